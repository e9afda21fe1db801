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
}

/** What React calls through its dispatcher slots; the hooks themselves are typed in `hooks.ts`. */
interface Slots {
  H: unknown;
  A: unknown;
}

interface ReactInternals {
  __CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE?: Slots;
  __SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED?: {
    ReactCurrentDispatcher?: { current: unknown };
    ReactCurrentCache?: { current: unknown };
  };
}

type ReactDOMInternals = {
  __DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE?: { d: ResourceDispatcher };
};

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

export const React = ReactModule;
export const ReactDOM = ReactDOMModule;
export const ReactDOMServer = ReactDOMServerModule;

const [major = 0, minor = 0] = ReactModule.version.split('.').map(Number);
const reactInternals = ReactModule as unknown as ReactInternals;
const domInternals = ReactDOMModule as unknown as ReactDOMInternals;
const slots19 = reactInternals.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
const slots18 = reactInternals.__SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED;
const dom19 = domInternals.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;

/** The release lines whose strings, or streams too, the differential tests compare; a prerelease is none of them. */
const STRING_MINORS = ['18.3', '19.0', '19.1', '19.2', '19.3'];
const STREAM_MINORS = ['18.3', '19.0', '19.1', '19.2', '19.3'];

export const version = ReactModule.version;
export const react18 = major === 18;
/** The minor of React 19; -1 for React 18. */
export const minor19 = react18 ? -1 : minor;
export const knowsStreams = STREAM_MINORS.includes(`${major}.${minor}`);
export const knownVersion =
  /^\d+\.\d+\.\d+$/.test(version) &&
  STRING_MINORS.includes(`${major}.${minor}`) &&
  version === ReactDOMServerModule.version &&
  (react18 ? slots18?.ReactCurrentDispatcher !== undefined : slots19 !== undefined && dom19 !== undefined);

export const ELEMENT = Symbol.for(react18 ? 'react.element' : 'react.transitional.element');
export const PORTAL = Symbol.for('react.portal');
export const FRAGMENT = Symbol.for('react.fragment');
export const STRICT_MODE = Symbol.for('react.strict_mode');
export const PROFILER = Symbol.for('react.profiler');
export const PROVIDER = Symbol.for('react.provider');
export const CONSUMER = Symbol.for('react.consumer');
export const CONTEXT = Symbol.for('react.context');
export const FORWARD_REF = Symbol.for('react.forward_ref');
export const SUSPENSE = Symbol.for('react.suspense');
export const SUSPENSE_LIST = Symbol.for('react.suspense_list');
export const MEMO = Symbol.for('react.memo');
export const LAZY = Symbol.for('react.lazy');
export const SCOPE = Symbol.for('react.scope');
export const ACTIVITY = Symbol.for('react.activity');
export const LEGACY_HIDDEN = Symbol.for('react.legacy_hidden');
export const DEBUG_TRACE_MODE = Symbol.for('react.debug_trace_mode');
export const VIEW_TRANSITION = Symbol.for('react.view_transition');
export const RECOVERABLE = Symbol.for('react.recoverable');
export const MEMO_CACHE_SENTINEL = Symbol.for('react.memo_cache_sentinel');
export const OPTIMISTIC_KEY = Symbol.for('react.optimistic_key');

export interface Dispatchers {
  readonly hooks: unknown;
  readonly async: unknown;
}

/** Puts a renderer's dispatchers in React's slots; returns what was there, to be put back. */
export function setDispatchers(hooks: unknown, async: unknown): Dispatchers {
  if (slots19 !== undefined) {
    const previous = { hooks: slots19.H, async: slots19.A };
    slots19.H = hooks;
    slots19.A = async;
    return previous;
  }
  const slot = slots18?.ReactCurrentDispatcher;
  const previous = { hooks: slot?.current, async: null };
  if (slot !== undefined) slot.current = hooks;
  return previous;
}

/** The slot of react-dom's resource functions; undefined before React 19. */
export const resourceSlot = dom19;
