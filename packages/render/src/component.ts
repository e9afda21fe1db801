/**
 * A component as the registry knows it: what renders it, and how. It must not know requests, pages or the protocol that
 * asked for it.
 */
import type { Adapter } from './adapters/adapter.js';

/** Props of a component. Plain data: it may have come over the network, and goes to the browser. */
export type Props = Readonly<Record<string, unknown>>;

/**
 * Place where a component's HTML is made.
 * - `server`: on the server, and hydrated in the browser.
 * - `client`: in the browser alone; the server sends the placeholder and the props.
 * - `static`: on the server alone; the browser gets neither code nor props.
 */
export type Rendering = 'server' | 'client' | 'static';

/** Time at which the browser hydrates a component: `docs/guide/browser.md`. */
export type Hydration = 'load' | 'idle' | 'visible' | 'interaction' | `media ${string}`;

/** Checks and converts props; the interface of zod, valibot and ArkType (Standard Schema 1). */
export interface PropsSchema<P> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<P> | Promise<SchemaResult<P>>;
  };
}

export type SchemaResult<P> =
  | { readonly value: P; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

/** Settings of one component; each has a default. */
export interface Settings<P = Props> {
  readonly rendering?: Rendering;
  readonly hydration?: Hydration;
  /** Name of the adapter that renders it. Default: the one that recognises the view. */
  readonly adapter?: string;
  /** CPU time that one render may take, in milliseconds; from 1. Default: `RegistryOptions.budgetMs`. */
  readonly budgetMs?: number;
  /** Time from the start of an asynchronous render to its HTML, in milliseconds; from 1. Default: `RegistryOptions.timeoutMs`. */
  readonly timeoutMs?: number;
  /**
   * Props of the same key give the same HTML, which is used again for `cacheS` seconds. Undefined: not cached.
   *
   * `'props'`: the key is the text of all props, as the schema gives them. The order of properties counts, and a property that is undefined is
   * another key than none. A page makes this text anyway for boxes that the browser hydrates; for static boxes, and jobs of fragments, it is
   * made for the key alone. Props that a text does not tell from all others are not cached. These have functions, promises, getters, symbols as
   * keys, arrays with holes, or instances of classes other than Date, URL, Map and Set.
   */
  readonly cacheKey?: 'props' | ((props: P) => string | undefined);
  /** Seconds; default 60. */
  readonly cacheS?: number;
  /**
   * Tags of the cached HTML, and of the pages that it is in: `purge({ tag })` of `@sluice/preload` drops both. Those of `<Cached>` in it count
   * as well.
   */
  readonly cacheTags?: (props: P) => readonly string[];
  /** HTML in place of a component that has failed, is late, or is rendered in the browser. Default: nothing. */
  readonly placeholder?: string | ((props: P) => string);
  readonly props?: PropsSchema<P>;
  /** The component's form for clients that are not browsers. Default: its props. `signal` aborts when nobody wants the form any more. */
  readonly json?: (props: P, context: { readonly signal: AbortSignal }) => unknown;
  /** The lowest version of a client's engine that knows the JSON form, and the component to send to older ones. */
  readonly engine?: { readonly version: number; readonly fallback?: string };
  /** Files of styles, as paths; CSS Modules end in `.module.css`. */
  readonly css?: readonly string[];
}

/** One version of a component, loaded. */
export interface Component<P = Props> {
  readonly name: string;
  /** Undefined: the only one. */
  readonly version: string | undefined;
  /** View that the adapter renders: a React or Vue component, or a function that returns HTML. */
  readonly view: unknown;
  readonly adapter: Adapter;
  readonly settings: Settings<P>;
}
