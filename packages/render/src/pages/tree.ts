/**
 * A page as data: a tree of components, with slots, conditions, repetition and data. It may come over the network, from
 * clients that may post pages; `check.ts` says which are none. It must not know how pages are rendered.
 */
import type { Hydration, Rendering } from '../component.js';
import type { Bound, Condition } from './bind.js';

export interface PageTree {
  /** Names the page in reports and vitals: `product`, `home`. Up to 64 letters, digits, `_`, `.`, `-` and `/`. */
  readonly id?: string;
  readonly document?: DocumentTree;
  /** Sources whose values the whole page waits for; the page's data has them under these names. */
  readonly data?: Readonly<Record<string, Source>>;
  /** HTTP status where nothing else decides; default 200. */
  readonly status?: number;
  readonly boxes: readonly TreeNode[];
}

/** One component, or as many as its `each` has items. A box is what becomes of it on a page. */
export interface TreeNode {
  /** Name in the registry. */
  readonly component: string;
  /** Default: the newest. */
  readonly version?: string;
  /** Unique in the tree: a letter, then letters, digits and `_`. Default: the place in the tree. In an `each`, `-0` and so on follow. */
  readonly id?: string;
  /** Each bound by itself, or all by one `$path` of an object. */
  readonly props?: Readonly<Record<string, Bound>>;
  readonly slots?: Readonly<Record<string, readonly TreeNode[]>>;
  /** Condition of the box; without one it is there. It sees the node's data, and in `each` the item. */
  readonly if?: Condition;
  /** Path of an array: one box for each item, which is `@` in the node and its slots. */
  readonly each?: string;
  /** Sources that this node waits for and the rest of the page does not. */
  readonly data?: Readonly<Record<string, Source>>;
  /** The page answers 500 where this box has no HTML, and waits for it before the first byte. Default: false. */
  readonly required?: boolean;
  /** Setting in place of the component's own. */
  readonly rendering?: Rendering;
  readonly hydration?: Hydration;
}

export type Source = UpstreamSource | FunctionSource;

/** A GET of JSON from a service whose origin code has allowed. */
export interface UpstreamSource {
  readonly url: string;
  /** Segments after the URL's path, each encoded; one that is absent or `..` fails the source. */
  readonly path?: readonly Bound[];
  /** Parameters after the URL's; absent ones are left out. */
  readonly query?: Readonly<Record<string, Bound>>;
  /** Milliseconds, from 1; default 1,000. */
  readonly timeoutMs?: number;
  /** The value where the source fails. Without it the node, or the page, has failed. */
  readonly default?: unknown;
}

/** A function that code has registered under this name. */
export interface FunctionSource {
  readonly source: string;
  readonly args?: Bound;
  readonly timeoutMs?: number;
  readonly default?: unknown;
}

/** Head of the document. Values may be bound to the page's data; texts are escaped. */
export interface DocumentTree {
  /** BCP 47, default `en`. */
  readonly lang?: Bound;
  readonly dir?: 'ltr' | 'rtl' | 'auto';
  readonly title?: Bound;
  readonly meta?: readonly MetaTree[];
  readonly links?: readonly LinkTree[];
}

export type MetaTree =
  { readonly name: string; readonly content: Bound } | { readonly property: string; readonly content: Bound };

export interface LinkTree {
  /** `canonical`, `alternate`, `icon`, `apple-touch-icon`, `manifest`, `next`, `prev`, `preconnect`, `dns-prefetch` or `author`. */
  readonly rel: string;
  readonly href: Bound;
  readonly hreflang?: string;
  readonly type?: string;
  readonly sizes?: string;
  readonly media?: string;
}
