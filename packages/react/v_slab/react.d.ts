/**
 * The app's React: its version, its symbols and the slots through which a renderer is known to it. Everything that
 * depends on how a React version works inside is decided here, once, so that an unknown version is never guessed at.
 */
import ReactModule from 'react';
import ReactDOMModule from 'react-dom';
import * as ReactDOMServerModule from 'react-dom/server';
export type Props = Record<string, unknown>;
export interface ElementLike {
    readonly $$typeof: symbol;
    readonly type: unknown;
    readonly key: string | null | symbol;
    readonly ref?: unknown;
    readonly props: Props;
}
export interface ContextLike {
    readonly $$typeof: symbol;
    readonly displayName?: string;
    _currentValue: unknown;
    _currentValue2: unknown;
}
/** The functions behind `preload`, `preinit` and the like; react-dom's own one-letter names. */
export interface ResourceDispatcher {
    f: unknown;
    r: unknown;
    D(href: unknown): void;
    C(href: unknown, crossOrigin: unknown): void;
    L(href: unknown, as: unknown, options?: Props): void;
    m(href: unknown, options?: Props): void;
    X(src: unknown, options?: Props): void;
    S(href: unknown, precedence: unknown, options?: Props): void;
    M(src: unknown, options?: Props): void;
}
export declare const React: typeof ReactModule;
export declare const ReactDOM: typeof ReactDOMModule;
export declare const ReactDOMServer: typeof ReactDOMServerModule;
export declare const version: string;
export declare const react18: boolean;
export declare const knownVersion: boolean;
export declare const ELEMENT: unique symbol;
export declare const PORTAL: unique symbol;
export declare const FRAGMENT: unique symbol;
export declare const STRICT_MODE: unique symbol;
export declare const PROFILER: unique symbol;
export declare const PROVIDER: unique symbol;
export declare const CONSUMER: unique symbol;
export declare const CONTEXT: unique symbol;
export declare const FORWARD_REF: unique symbol;
export declare const SUSPENSE: unique symbol;
export declare const SUSPENSE_LIST: unique symbol;
export declare const MEMO: unique symbol;
export declare const LAZY: unique symbol;
export declare const SCOPE: unique symbol;
export declare const ACTIVITY: unique symbol;
export declare const LEGACY_HIDDEN: unique symbol;
export declare const VIEW_TRANSITION: unique symbol;
export declare const RECOVERABLE: unique symbol;
export declare const MEMO_CACHE_SENTINEL: unique symbol;
export declare const OPTIMISTIC_KEY: unique symbol;
export interface Dispatchers {
    readonly hooks: unknown;
    readonly async: unknown;
}
/** Puts a renderer's dispatchers in React's slots; returns what was there, to be put back. */
export declare function setDispatchers(hooks: unknown, async: unknown): Dispatchers;
/** The slot of react-dom's resource functions; undefined before React 19. */
export declare const resourceSlot: {
    d: ResourceDispatcher;
} | undefined;
