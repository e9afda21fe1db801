/**
 * Trees that are built in code, whose props the editor checks: `box(card, { props: { title: 'x' } })`. What comes out is the tree that a
 * client would post. It must not know how pages are rendered.
 */
import type { Named } from '../registry/named.js';
import { checkTree } from './check.js';
import type { PageTree, TreeNode } from './tree.js';

/** A value that stands in the page's data at `$path`. */
export interface Binding {
  readonly $path: string;
  readonly default?: unknown;
}

/** A value, or a binding in its place; in objects and arrays for each part. */
export type Bindable<T> =
  | T
  | Binding
  | (T extends readonly (infer Item)[]
      ? readonly Bindable<Item>[]
      : T extends (...args: never) => unknown
        ? never
        : T extends object
          ? { readonly [Key in keyof T]: Bindable<T[Key]> }
          : never);

/** Props of a component, each given or bound. Slots give `children`, and other props that may be absent. */
export type BindableProps<Props> =
  Binding | { readonly [Key in keyof Omit<Props, 'children'>]: Bindable<Omit<Props, 'children'>[Key]> };

type Others = Omit<TreeNode, 'component' | 'version' | 'props'>;

/** A component that takes props has to get some; one whose props may all be absent may go without. */
export type BoxOptions<Props> =
  Partial<Omit<Props, 'children'>> extends Omit<Props, 'children'>
    ? Others & { readonly props?: BindableProps<Props> }
    : Others & { readonly props: BindableProps<Props> };

type Given<Props> =
  Partial<Omit<Props, 'children'>> extends Omit<Props, 'children'>
    ? [options?: BoxOptions<Props>]
    : [options: BoxOptions<Props>];

/** Returns the binding for a path such as `$.product.title`, and for `fallback` where there is no value. */
export function path(text: string, fallback?: unknown): Binding {
  return fallback === undefined ? { $path: text } : { $path: text, default: fallback };
}

/** Returns the node of one component: `registry.register` gives the component, or `named`. */
export function box<Props>({ name, version }: Named<Props>, ...[options]: Given<Props>): TreeNode {
  return { ...(options as Others), component: name, ...(version === undefined ? {} : { version }) };
}

/** Returns the tree of a page. Throws `InvalidTree` where it is none. */
export function page(boxes: readonly TreeNode[] | TreeNode, options: Omit<PageTree, 'boxes'> = {}): PageTree {
  const tree = { ...options, boxes: 'component' in boxes ? [boxes] : boxes };
  checkTree(tree);
  return tree;
}
