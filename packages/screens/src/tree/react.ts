/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** The app's React: its symbols, and the slots through which a renderer is known to it. Works with React 18.3 and 19. */
import * as React from 'react';

interface Slots {
  /** Hooks of the component that renders. */
  H: unknown;
  /** Functions for cached data. */
  A: unknown;
  /** The transition that runs. */
  T: Transition | null;
  /** Called when a transition's function has returned. */
  S: ((transition: Transition, result: unknown) => void) | null;
}

export interface Transition {
  types?: unknown;
}

interface Internals {
  readonly __CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE?: Slots;
  readonly __SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED?: {
    readonly ReactCurrentDispatcher: { current: unknown };
    readonly ReactCurrentBatchConfig: { transition: Transition | null };
  };
  readonly default?: Internals;
}

// CommonJS through an ESM loader has the internals on `default` only.
const module = React as unknown as Internals;
const internals: Internals = module.default ?? module;
const slots19 = internals.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
const slots18 = internals.__SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED;
if (slots19 === undefined && slots18 === undefined)
  throw new Error('@sluice/screens needs React 18.3 or 19; the installed `react` has another version');

/** Whether `ref` is a prop (from React 19 on) or a field of the element. */
export const REF_IS_PROP = slots19 !== undefined;

export const ELEMENT = Symbol.for(REF_IS_PROP ? 'react.transitional.element' : 'react.element');
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
export const PORTAL = Symbol.for('react.portal');
export const ACTIVITY = Symbol.for('react.activity');
export const VIEW_TRANSITION = Symbol.for('react.view_transition');
export const MEMO_CACHE_SENTINEL = Symbol.for('react.memo_cache_sentinel');

/** An element, as `createElement`, the JSX runtime and compiled code make it. */
export interface Element {
  readonly $$typeof: symbol;
  readonly type: unknown;
  readonly key: string | null;
  readonly ref?: unknown;
  readonly props: Props;
  /** Comparison of all props that the element's place can give, by the compiler. */
  readonly $e?: Comparison;
}

export type Comparison = (before: Props, now: Props) => boolean;

// oxlint-disable-next-line typescript/no-explicit-any -- props of components that are not known here
export type Props = any;

/** A context. Sluice uses the field for a second renderer, because react-dom may render in the same process. */
export interface Context {
  readonly $$typeof: symbol;
  _currentValue2: unknown;
  readonly _context?: Context;
  readonly displayName?: string;
}

/** Puts hooks in React's slot and returns what was there. */
export function setHooks(hooks: unknown): unknown {
  if (slots19 !== undefined) {
    const before = slots19.H;
    slots19.H = hooks;
    return before;
  }
  const slot = slots18!.ReactCurrentDispatcher;
  const before = slot.current;
  slot.current = hooks;
  return before;
}

export function transition(): Transition | null {
  return slots19 !== undefined ? slots19.T : slots18!.ReactCurrentBatchConfig.transition;
}

export function setTransition(value: Transition | null): void {
  if (slots19 !== undefined) slots19.T = value;
  else slots18!.ReactCurrentBatchConfig.transition = value;
}

/** Tells React and other renderers that a transition's function has returned. */
export function transitionReturned(current: Transition, result: unknown): void {
  const listener = slots19?.S;
  if (listener !== undefined && listener !== null) listener(current, result);
  else if (slots19 === undefined && onReturn !== null) onReturn(current, result);
}

let onReturn: ((transition: Transition, result: unknown) => void) | null = null;

/** Sets the function that hears of every transition whose function has returned. */
export function onTransitionReturned(listener: (transition: Transition, result: unknown) => void): void {
  onReturn = listener;
  if (slots19 === undefined) return;
  const before = slots19.S;
  slots19.S = (current, result) => {
    listener(current, result);
    before?.(current, result);
  };
}
