/**
 * Result of compiled JSX: an element that carries HTML made at build time and the values for its holes, and builds the
 * ordinary element only on demand. The renderer writes it without walking it; stock react-dom, `Children`,
 * `cloneElement` and `isValidElement` see the ordinary element. Knows React's element shape, nothing of rendering.
 */
import { createElement, version, type ReactElement } from 'react';

/** A step of the path to a child hole: inside `tag` (null: a fragment), with that static key, child `index` of `length`. */
export type PathStep = readonly [tag: string | null, key: string | null, length: number, index: number];

export const CHILD = 0;
export const ATTRIBUTE = 1;
export const IGNORED = 2;
export const COMPONENT = 3;
export const PROPS = 4;

/** Kind of what stands directly before the hole of a child or of a component. */
export const AFTER_TAG = 0;
export const AFTER_TEXT = 1;
export const AFTER_CHILD = 2;

/** `followed`: whether static text stands directly behind it. `path`: its ancestors in the template, root first. */
export type ChildHole = readonly [
  kind: typeof CHILD,
  before: typeof AFTER_TAG | typeof AFTER_TEXT | typeof AFTER_CHILD,
  followed: 0 | 1,
  path: readonly PathStep[],
];
/** `name` as in JSX. */
export type AttributeHole = readonly [kind: typeof ATTRIBUTE, name: string, tag: string];
/** A value that only the ordinary element has, such as an event handler. */
export type IgnoredHole = readonly [kind: typeof IGNORED];
/** An element as a child that was not made: its value is the type, and that of the hole behind it are the props. Neither key nor ref. */
export type ComponentHole = readonly [
  kind: typeof COMPONENT,
  before: ChildHole[1],
  followed: ChildHole[2],
  path: ChildHole[3],
];
export type PropsHole = readonly [kind: typeof PROPS];
export type Hole = ChildHole | AttributeHole | IgnoredHole | ComponentHole | PropsHole;

/** Builds the ordinary element; `key` undefined means none. */
export type Build = (values: readonly unknown[], key?: unknown) => ReactElement;

export interface Template {
  readonly layout: 1;
  /** `holes.length + 1` pieces of HTML. `<!-- -->` in them separates texts; static markup goes without. */
  readonly pieces: readonly string[];
  readonly holes: readonly Hole[];
  readonly build: Build;
  /** The renderer's own compiled form of this template, made on first use. */
  plan: unknown;
}

export interface TemplateElement {
  readonly $$typeof: symbol;
  readonly key: string | null;
  readonly $$template: Template;
  /** One per hole, in source order. */
  readonly $$values: readonly unknown[];
  readonly type: ReactElement['type'];
  readonly props: ReactElement['props'];
}

/** The template of an element; what every object inherits by that name is none. */
export function templateOf(node: object): Template | undefined {
  const { $$template: template } = node as Partial<TemplateElement>;
  return template !== undefined && Object.hasOwn(node, '$$template') ? template : undefined;
}

const NO_VALUES: readonly unknown[] = [];

class Instance implements TemplateElement {
  declare readonly $$typeof: symbol;
  declare readonly key: string | null;
  declare readonly $$template: Template;
  declare readonly $$values: readonly unknown[];
  declare $$element: ReactElement | undefined;

  constructor(template: Template, values: readonly unknown[], key: string | null) {
    this.key = key;
    this.$$template = template;
    this.$$values = values;
    this.$$element = undefined;
  }

  get type(): ReactElement['type'] {
    return (this.$$element ??= this.$$template.build(this.$$values)).type;
  }

  get props(): ReactElement['props'] {
    return (this.$$element ??= this.$$template.build(this.$$values)).props;
  }
}

const probe: object & { readonly $$typeof?: symbol } = createElement('i');
// Development builds warn about the elements they made themselves, and devtools look into those.
const isDevelopment = '_store' in probe;
// On the prototype, because they are the same for all; React 18 reads `ref` and `_owner` when it clones.
Object.assign(Instance.prototype, { $$typeof: probe.$$typeof, ref: null, _owner: null });

/**
 * Called by compiled code only. Gives the function that makes an element from the holes' values.
 *
 * `builtWith` is the version of React that wrote `pieces`. Under another one, or a development build, that function
 * makes ordinary elements.
 */
export function template(
  builtWith: string,
  pieces: readonly string[],
  holes: readonly Hole[],
  build: Build,
): (values?: readonly unknown[], key?: unknown) => ReactElement {
  if (isDevelopment || builtWith !== version) return (values = NO_VALUES, key) => build(values, key);
  const template: Template = { layout: 1, pieces, holes, build, plan: undefined };
  return (values = NO_VALUES, key) =>
    new Instance(template, values, key === undefined ? null : toKey(key)) as ReactElement;
}

/** Makes a key as React does, so that a symbol throws. */
const toKey = (key: unknown): string => '' + (key as number);
