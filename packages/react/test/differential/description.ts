/**
 * A React tree as plain data, so that it can be printed, shrunk, kept in a file, and built afresh for each renderer.
 *
 * Nothing here knows React: `build.ts` makes elements of it, `generate.ts` invents it.
 */

/** A prop's value. What JSON cannot hold is an object with `$`. */
export type Value = string | number | boolean | null | Special;

export type Special =
  | {
      readonly $: 'undefined' | 'nan' | 'infinity' | 'minus-zero' | 'ref' | 'callback-ref' | 'null-prototype';
    }
  | {
      readonly $: 'bigint' | 'symbol' | 'function' | 'to-string' | 'to-string-throws' | 'url';
      readonly v: string;
    }
  | { readonly $: 'date'; readonly v: number }
  | { readonly $: 'object'; readonly v: readonly Prop[] }
  | { readonly $: 'array'; readonly v: readonly Value[] }
  | { readonly $: 'html'; readonly v: Value }
  | { readonly $: 'action'; readonly v: ActionSpec };

/** A function for `action` or `formAction`, with or without the fields that React sends before its scripts are there. */
export interface ActionSpec {
  readonly fields: 'none' | 'throws' | 'null' | 'data' | 'file' | 'attributes';
  readonly signature?: boolean;
}

export type Prop = readonly [name: string, value: Value];

/** How children are handed over: each shape has its own path through a renderer. */
export type ChildShape = 'arguments' | 'array' | 'keyed' | 'set' | 'generator' | 'promise';

export type Node =
  | { readonly k: 'text'; readonly v: string }
  | { readonly k: 'value'; readonly v: Value }
  | {
      readonly k: 'element';
      readonly tag: string;
      readonly props: readonly Prop[];
      readonly shape: ChildShape;
      readonly of: readonly Node[];
    }
  | {
      readonly k: 'wrap';
      readonly as: Wrapper;
      readonly key?: string;
      readonly shape: ChildShape;
      readonly of: readonly Node[];
    }
  | {
      readonly k: 'suspense';
      readonly fallback: readonly Node[];
      readonly defer?: boolean;
      readonly of: readonly Node[];
    }
  | {
      readonly k: 'component';
      readonly as:
        | 'function'
        | 'memo'
        | 'memo-compare'
        | 'forward-ref'
        | 'memo-forward-ref'
        | 'default-props'
        | 'memo-default-props'
        | 'instance';
      readonly name: string;
      readonly hooks: readonly Hook[];
      readonly returns: 'fragment' | 'array' | 'element' | 'bare' | 'body-first';
      readonly of: readonly Node[];
    }
  | {
      readonly k: 'class';
      readonly name: string;
      readonly parts: readonly ClassPart[];
      readonly context: number | null;
      readonly of: readonly Node[];
    }
  | { readonly k: 'provider'; readonly context: number; readonly v: Value; readonly of: readonly Node[] }
  | { readonly k: 'consumer'; readonly context: number; readonly of: readonly Node[] }
  | { readonly k: 'context-child'; readonly context: number }
  | {
      readonly k: 'lazy';
      readonly promise: number;
      readonly as: 'component' | 'node' | 'default-props' | 'forward-ref';
      readonly of: readonly Node[];
    }
  | { readonly k: 'awaited'; readonly promise: number; readonly of: readonly Node[] }
  | { readonly k: 'async-component'; readonly promise: number | null; readonly of: readonly Node[] }
  | { readonly k: 'throw'; readonly v: Thrown }
  | { readonly k: 'throw-promise'; readonly promise: number; readonly of: readonly Node[] }
  | { readonly k: 'legacy-context'; readonly as: LegacyContext; readonly of: readonly Node[] }
  | { readonly k: 'portal'; readonly of: readonly Node[] }
  | {
      readonly k: 'bad-type';
      readonly v: 'undefined' | 'null' | 'object' | 'number' | 'symbol' | 'element' | '';
    }
  | { readonly k: 'twice'; readonly of: readonly Node[] }
  | { readonly k: 'kept'; readonly at: number; readonly as: KeptAs; readonly shows: string };

/** What takes a context of before `createContext`, or what is wrong with the one that gives it. */
export type LegacyContext = 'class' | 'function' | 'undeclared' | 'not given';

/** How the component cache is asked to keep something: `<Cached>` with a key of either kind, or a component's own `cacheKey`. */
export type KeptAs = 'cacheKey' | 'key' | 'function' | 'memo' | 'forward-ref' | 'class';

/** What stands under a key of the component cache: always the same, but for what is told to the cache. */
export interface Kept {
  /** Called by the component itself, where it is a function. */
  readonly hooks: readonly Hook[];
  readonly of: readonly Node[];
  /** `over`: its time is over at once, and it differs from page to page. `tagged`: it differs after a purge of its tag. */
  readonly lasts: 'for good' | 'over' | 'tagged';
}

export type Wrapper =
  | 'fragment'
  | 'strict'
  | 'profiler'
  | 'activity'
  | 'activity-hidden'
  | 'view-transition'
  | 'view-transition-named'
  | 'list-forwards'
  | 'list-together';

export type Thrown =
  | { readonly as: 'error'; readonly message: string; readonly digest?: string }
  | { readonly as: 'value'; readonly v: Value };

export type Hook =
  | { readonly h: 'state'; readonly v: Value; readonly lazy: boolean; readonly updates: number }
  | {
      readonly h: 'reducer';
      readonly start: number;
      readonly init: boolean;
      readonly dispatches: readonly number[];
    }
  | { readonly h: 'id' }
  | { readonly h: 'memo'; readonly deps: 'none' | 'empty' | 'changing' }
  | { readonly h: 'ref' }
  | { readonly h: 'callback' }
  | { readonly h: 'deferred'; readonly initial: boolean }
  | { readonly h: 'transition'; readonly start: boolean }
  | { readonly h: 'optimistic'; readonly update: boolean }
  | {
      readonly h: 'action-state';
      readonly action: ActionSpec;
      readonly permalink: string | null;
      readonly form: boolean;
    }
  | { readonly h: 'form-status' }
  | { readonly h: 'store'; readonly server: boolean }
  | { readonly h: 'context'; readonly context: number; readonly through: 'useContext' | 'use' }
  | { readonly h: 'use'; readonly promise: number }
  | { readonly h: 'use-settled'; readonly status: 'fulfilled' | 'rejected' }
  | { readonly h: 'effects' }
  | { readonly h: 'effect-event'; readonly call: boolean }
  | { readonly h: 'memo-cache' }
  | { readonly h: 'cache' }
  | { readonly h: 'endless' }
  | { readonly h: 'more-hooks' }
  | { readonly h: 'browser' }
  | { readonly h: 'hint'; readonly call: Hint; readonly href: string; readonly options: readonly Prop[] };

export type Hint = 'prefetchDNS' | 'preconnect' | 'preload' | 'preloadModule' | 'preinit' | 'preinitModule';

export type ClassPart =
  | 'state'
  | 'derived-state'
  | 'will-mount'
  | 'unsafe-will-mount'
  | 'function-update'
  | 'replace-state'
  | 'snapshot'
  | 'default-props'
  | 'constructor-reads-context'
  | 'error-boundary'
  | 'pure';

/** What happens to a promise of the tree when its turn comes. */
export interface Outcome {
  readonly settles: 'resolves' | 'rejects';
  readonly v: string;
  readonly digest?: string;
}

export const apis = [
  'renderToString',
  'renderToStaticMarkup',
  'renderToPipeableStream',
  'renderToReadableStream',
  'prerender',
  'prerenderToNodeStream',
] as const;
export type Api = (typeof apis)[number];

export interface RenderOptions {
  readonly identifierPrefix?: string;
  readonly nonce?: string | { readonly script?: string; readonly style?: string };
  readonly bootstrapScriptContent?: string;
  readonly bootstrapScripts?: readonly (string | Script)[];
  readonly bootstrapModules?: readonly (string | Script)[];
  readonly progressiveChunkSize?: number;
  readonly importMap?: { readonly imports: Readonly<Record<string, string>> };
  readonly namespaceURI?: string;
  readonly maxHeadersLength?: number;
}

export interface Script {
  readonly src: string;
  readonly integrity?: string;
  readonly crossOrigin?: string;
}

/** One tree, how it is rendered, and in which order its promises settle. */
export interface Scenario {
  readonly root: readonly Node[];
  /** The renderer that is tried gets the host elements from the compiler; react-dom gets them as they are. */
  readonly compiled: boolean;
  readonly api: Api;
  readonly options: RenderOptions;
  readonly outcomes: readonly Outcome[];
  /** Promises that have settled before the render begins. */
  readonly before: readonly number[];
  /** Then, step by step, those that settle at once. What is left settles at the end, or the render is aborted then. */
  readonly steps: readonly (readonly number[])[];
  /** The step before which the render is aborted, or null. */
  readonly abortAt: number | null;
  readonly abortReason: 'none' | 'error' | 'string';
  /** When the output is asked for. */
  readonly flow: 'shell' | 'all' | 'slow';
  /** What `onError` returns. */
  readonly digests: 'message' | 'own' | 'none' | 'not-given';
  readonly headers: boolean;
  /** A posted action's state: `useActionState` compares it with each of its keys. */
  readonly formState: 'none' | 'no-match' | 'permalink' | 'key-path';
}

/** Renders one after the other of one process and of the same components, which may share what is kept. */
export interface Session {
  /** By number: what `kept` nodes stand for. Each holds only those before it. */
  readonly library: readonly Kept[];
  readonly pages: readonly Page[];
}

export interface Page extends Scenario {
  /** What of the library has changed before this page, and is purged by its tag. */
  readonly changed: readonly number[];
}
