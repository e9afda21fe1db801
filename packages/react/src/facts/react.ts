/** The app's React: its version, its symbols, and the slots through which a renderer is known to it. */
import React from 'react';
import ReactDOM from 'react-dom';
import * as ReactDOMServer from 'react-dom/server';

export { React, ReactDOM, ReactDOMServer };

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

/** Functions that React calls through its dispatcher slots; the hooks themselves are typed in `hooks.ts`. */
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

/** The functions behind `preload`, `preinit` and the like, by react-dom's own one-letter names. */
type ResourceDispatcher = Record<string, (...args: unknown[]) => unknown>;

const reactInternals = React as unknown as ReactInternals;
const domInternals = ReactDOM as unknown as ReactDOMInternals;
const slots19 = reactInternals.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
const slots18 = reactInternals.__SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED;
const dom19 = domInternals.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;

export const version = React.version;

export const ELEMENT = Symbol.for(slots19 === undefined ? 'react.element' : 'react.transitional.element');
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

/** Whether the slots are where this renderer knows them. */
export const hasSlots =
  slots19 === undefined ? slots18?.ReactCurrentDispatcher !== undefined : dom19 !== undefined;

/** The names of react-dom's own hooks, and of what it has in the other slot, as a component of its own finds them. */
export function namesInSlots(): readonly string[] {
  let names: string[] = [];
  const Looks = (): null => {
    const hooks = slots19 === undefined ? slots18?.ReactCurrentDispatcher?.current : slots19.H;
    names = [hooks, slots19?.A].flatMap((slot) => Object.keys(slot ?? {}));
    return null;
  };
  ReactDOMServer.renderToStaticMarkup(React.createElement(Looks));
  return names;
}

/** Some of the properties, in this order, those as well that are not there. */
export function pick(props: Props, names: string): Props {
  return Object.fromEntries(names.split(' ').map((name) => [name, props[name]]));
}
