/**
 * Functions that compiled code calls (`@sluice/compiler/screens` writes the calls; apps do not).
 *
 * A component without hooks that stands alone at the root of another one is called, not rendered. It is marked by `$plain`, with itself as the
 * value, so that a mark that was copied to a wrapper is ignored. Nobody else refers to its props then. So it may write its own
 * attributes into them, in place of a copy: the second argument of the call is `OWNED`.
 */
import { Fragment, createElement } from 'react';
import { jsx } from 'react/jsx-runtime';

type Props = Record<string, unknown>;

interface Callable {
  (props: Props, owned: unknown): unknown;
  $plain?: unknown;
  $stateful?: unknown;
  defaultProps?: unknown;
}

const ELEMENT = (createElement(Fragment) as unknown as { readonly $$typeof: symbol }).$$typeof;
const is19 = ELEMENT === Symbol.for('react.transitional.element');

export { Fragment };

/** Says, as a component's second argument, that its props are its own and without `key` (in React 18, also without `ref`). */
export const OWNED: unique symbol = Symbol('sluice.owned');

/** `$$typeof` of elements. Throws an error if the app runs another major version of React than it was compiled for. */
export function elementType(major: number): symbol {
  if (major >= 19 === is19) return ELEMENT;
  throw new Error(
    `This file was compiled for React ${major}, and runs with React ${is19 ? '19' : '18'}: set the option "react" of @sluice/compiler/screens.`,
  );
}

const hasKey = (props: Props): boolean => 'key' in props || (!is19 && 'ref' in props);

/** Whether a spread of the props would be the same object again, with nothing taken out for React. */
const isWhole = (props: unknown): boolean =>
  typeof props === 'object' &&
  props !== null &&
  Object.getPrototypeOf(props) === Object.prototype &&
  !hasKey(props as Props);

const isCallable = (type: unknown, mark: '$plain' | '$stateful'): type is Callable =>
  typeof type === 'function' &&
  (type as unknown as Callable)[mark] === type &&
  (is19 || (type as unknown as Callable).defaultProps === undefined);

/** `<Type {...fresh} />`, for an object that nothing else refers to: React's own `jsx`. */
export const copied: (type: unknown, fresh: Props, key?: unknown) => unknown = jsx as never;

/** An element's key: other values than strings become one. */
// oxlint-disable-next-line typescript/restrict-plus-operands -- React's own rule, by which a symbol throws.
const keyOf = (key: unknown): string | null => (key === undefined ? null : '' + (key as number));

/** Comparison of a prop's values in `memo`. */
export const same: (before: unknown, now: unknown) => boolean = Object.is;

/** Compares the props of two elements of one place. */
export type Comparison = (before: Props, now: Props) => boolean;

/**
 * Makes the element that `jsx` makes of props without `key`. In React 18, `jsx` takes `ref` out of the props, and resolves a component's defaults.
 * `equal`, if given, becomes the element's `$e`.
 */
export function made(type: unknown, props: Props, key?: unknown, ref?: unknown, equal?: Comparison): unknown {
  if (!is19) {
    const element = plain(type, props, key, ref) as { $e?: Comparison };
    // React's own elements are frozen in development.
    if (equal !== undefined && Object.isExtensible(element)) element.$e = equal;
    return element;
  }
  const own = props['ref'];
  return {
    $$typeof: ELEMENT,
    type,
    key: keyOf(key),
    ref: own === undefined ? null : own,
    props,
    $e: equal,
  };
}

/** The same in React 18. */
function plain(type: unknown, props: Props, key: unknown, ref: unknown): unknown {
  if (typeof ref === 'string' || (type as Callable | null)?.defaultProps !== undefined)
    return copied(type, ref === undefined ? props : { ...props, ref }, key);
  return {
    $$typeof: ELEMENT,
    type,
    key: keyOf(key),
    ref: ref === undefined ? null : ref,
    props,
    _owner: null,
  };
}

/** `<Type {...props} />` for the props of a component, which are not copied where a copy would be the same. */
export const passed = (type: unknown, props: Props, key?: unknown): unknown =>
  isWhole(props) ? made(type, props, key) : copied(type, { ...props }, key);

/** The only element that a component ever returns, with props that nobody else refers to. `owned`: `OWNED` if they have no `key`. */
export function on(type: unknown, fresh: Props, owned: unknown, equal?: Comparison): unknown {
  if (owned !== OWNED && hasKey(fresh)) return copied(type, fresh);
  return isCallable(type, '$plain') ? type(fresh, OWNED) : made(type, fresh, undefined, undefined, equal);
}

/** Takes names out of props that are a component's own, and returns the rest. */
export function taken(props: Props, names: readonly string[]): Props {
  for (const name of names) delete props[name];
  return props;
}

/** `on` in a component that has hooks, but no effects: it may also call one that has state. */
export function onStateful(type: unknown, fresh: Props, owned: unknown, equal?: Comparison): unknown {
  if (isCallable(type, '$stateful') && (owned === OWNED || !hasKey(fresh))) return type(fresh, OWNED);
  return on(type, fresh, owned, equal);
}

/** `on` for `<Type {...props} />`: ownership is passed on as it came. */
export function passedOn(type: unknown, props: Props, owned: unknown): unknown {
  const whole = owned === OWNED || isWhole(props);
  if (!whole) return on(type, { ...props }, undefined);
  return isCallable(type, '$plain') ? type(props, owned) : made(type, props);
}

/** `onStateful` for `<Type {...props} />`. */
export function passedOnStateful(type: unknown, props: Props, owned: unknown): unknown {
  const whole = owned === OWNED || isWhole(props);
  return whole && isCallable(type, '$stateful') ? type(props, owned) : passedOn(type, props, owned);
}

/**
 * Prototype for the props of one place's widgets: keeps the generated update out of copies, such as `cloneElement`'s.
 * `groups`: bits of the groups of props that the place can give (`$k` in `widget/props.ts`).
 */
export const updates = (update: unknown, mount: unknown, groups: number): object =>
  block(update, mount, groups, undefined);

/** The same for a place whose widgets below are in `inner`, `$b`. It has a name of its own, so that an older renderer is not given what it cannot show. */
export const block = (update: unknown, mount: unknown, groups: number, inner: unknown): object =>
  Object.create(Object.prototype, {
    $u: { value: update },
    $m: { value: mount },
    $k: { value: groups },
    $b: { value: inner },
  }) as object;

/** Prototype of widgets' elements: an object with fewer fields is made sooner. For elements that nobody but the renderer sees. */
export const widgetElement = (major: number): object =>
  Object.freeze({
    $$typeof: elementType(major),
    type: 'sluice-widget',
    key: null,
    ref: null,
    ...(is19 ? {} : { _owner: null }),
  });
