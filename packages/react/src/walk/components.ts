/** Components: functions with hooks, and classes. */
import { readContext } from '../state/contexts.js';
import { legacyContextOf, renderWithin, type GivesContext, type TakesContext } from './legacy-context.js';
import { popLooseFork, pushLooseFork } from './loose-forks.js';
import {
  actionStateCount,
  callComponent,
  matchingActionState,
  usedIds,
  type Renderable,
} from '../state/running.js';
import type { ContextLike, Props } from '../facts/react.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import { profile } from '../facts/profile.js';
import type { Render } from '../state/render.js';

const isLegacy = profile.components === 'legacy';

/** `isWithin`: it is what a `forwardRef` holds. */
export function renderFunction(
  render: Render,
  component: Renderable,
  props: Props,
  second: unknown,
  isWithin: boolean,
): void {
  const { thenables } = render;
  render.thenables = null;
  const children = callComponent(render, component, props, second, thenables);
  if (!isWithin) {
    if (render.aborted) throw null;
    if (isLegacy && isInstance(children)) {
      return renderInstance(render, children, component as never, props, second);
    }
  }
  const ids = usedIds();
  if (render.formState !== null && actionStateCount() > 0) {
    writeActionStateMarkers(render);
    render.chained = false;
  }
  if (!ids) return renderNode(render, children, ALONE);
  if (profile.idPlaces === 'none') {
    pushLooseFork(render);
    renderNode(render, children, ALONE);
    popLooseFork(render);
    return undefined;
  }
  render.chained = false;
  render.pushFork(1, 0);
  renderNode(render, children, ALONE);
  render.forks -= 1;
  return undefined;
}

/** Comments by which the client knows which of the component's action states the posted form belongs to. */
function writeActionStateMarkers(render: Render): void {
  const count = actionStateCount();
  const matching = matchingActionState();
  for (let at = 0; at < count; at += 1) render.out += at === matching ? '<!--F!-->' : '<!--F-->';
}

// Classes ----------------------------------------------------------------------------------------------------------

type State = unknown;

interface Updates {
  queue: unknown[] | null;
  replace: boolean;
}

interface Instance {
  props: Props;
  state: State;
  context: unknown;
  updater: unknown;
  _reactInternals: Updates;
  render(): unknown;
  getSnapshotBeforeUpdate?: unknown;
  componentWillMount?: () => void;
  UNSAFE_componentWillMount?: () => void;
}

interface ComponentClass extends TakesContext, GivesContext {
  new (props: Props, context: unknown): Instance;
  readonly defaultProps?: Props;
  readonly contextType?: unknown;
  readonly getDerivedStateFromProps?: unknown;
}

const NO_CONTEXT = {};

const updater = {
  // For `createReactClass`, which React 19 does not take any more.
  ...(isLegacy ? { isMounted: () => false } : {}),
  enqueueSetState(instance: Instance, update: unknown): void {
    instance._reactInternals.queue?.push(update);
  },
  enqueueReplaceState(instance: Instance, state: unknown): void {
    instance._reactInternals.replace = true;
    instance._reactInternals.queue = [state];
  },
  enqueueForceUpdate(): void {
    // There is one render only.
  },
};

export function renderClass(render: Render, component: ComponentClass, given: Props): void {
  const props = classProps(component, given);
  const legacy = isLegacy ? legacyContextOf(component) : NO_CONTEXT;
  const instance = new component(props, contextOf(component, legacy));
  renderInstance(render, instance, component, props, legacy);
}

/** A function may make an instance as well, by returning one. */
function isInstance(children: unknown): children is Instance {
  if (typeof children !== 'object' || children === null) return false;
  const { $$typeof: kind, render } = children as { $$typeof?: symbol; render?: unknown };
  return kind === undefined && typeof render === 'function';
}

function renderInstance(
  render: Render,
  instance: Instance,
  component: ComponentClass,
  props: Props,
  legacy: unknown,
): void {
  const initial = instance.state === undefined ? null : instance.state;
  instance.updater = updater;
  instance.props = props;
  instance.state = initial;
  const updates: Updates = { queue: [], replace: false };
  instance._reactInternals = updates;
  instance.context = contextOf(component, legacy);
  const { getDerivedStateFromProps: derive } = component;
  if (typeof derive === 'function') {
    const derived = (derive as (props: Props, state: State) => State)(props, initial);
    instance.state =
      derived === null || derived === undefined ? initial : Object.assign({}, initial, derived);
  } else if (typeof instance.getSnapshotBeforeUpdate !== 'function') {
    willMount(instance, updates, props, isLegacy ? legacy : undefined);
  }
  const children = instance.render();
  if (render.aborted) throw null;
  if (isLegacy) renderWithin(render, instance, component, children);
  else renderNode(render, children, ALONE);
}

function contextOf({ contextType }: ComponentClass, legacy: unknown): unknown {
  return typeof contextType === 'object' && contextType !== null
    ? readContext(contextType as ContextLike)
    : legacy;
}

/** Classes get neither `ref` nor undefined where a default is known; before 19, their elements have seen to that. */
function classProps({ defaultProps }: ComponentClass, given: Props): Props {
  return isLegacy ? given : withDefaults(defaultProps, withoutRef(given));
}

export function withoutRef(given: Props): Props {
  if (!('ref' in given)) return given;
  const props: Props = {};
  for (const name in given) if (name !== 'ref') props[name] = given[name];
  return props;
}

export function withDefaults(defaults: Props | null | undefined, given: Props): Props {
  if (!defaults) return given;
  const props = { ...given };
  for (const name in defaults) if (props[name] === undefined) props[name] = defaults[name];
  return props;
}

function willMount(instance: Instance, updates: Updates, props: Props, third: unknown): void {
  const { componentWillMount: old, UNSAFE_componentWillMount: current } = instance;
  if (typeof old !== 'function' && typeof current !== 'function') return;
  const before = instance.state;
  if (typeof old === 'function') instance.componentWillMount?.();
  if (typeof instance.UNSAFE_componentWillMount === 'function') instance.UNSAFE_componentWillMount();
  if (before !== instance.state) updater.enqueueReplaceState(instance, instance.state);
  const { queue, replace } = updates;
  updates.queue = null;
  if (queue === null || queue.length === 0) return;
  updates.replace = false;
  instance.state = stateAfter(instance, queue, replace, props, third);
}

function stateAfter(
  instance: Instance,
  queue: readonly unknown[],
  replace: boolean,
  props: Props,
  third: unknown,
): State {
  if (replace && queue.length === 1) return queue[0];
  let state = replace ? queue[0] : instance.state;
  let copied = false;
  for (const update of replace ? queue.slice(1) : queue) {
    const partial: unknown =
      typeof update === 'function'
        ? (update as (...args: unknown[]) => unknown).call(instance, state, props, third)
        : update;
    if (partial === null || partial === undefined) continue;
    if (copied) Object.assign(state as object, partial);
    else {
      copied = true;
      state = Object.assign({}, state, partial);
    }
  }
  return state;
}
