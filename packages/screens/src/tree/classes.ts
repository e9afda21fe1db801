/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Classes: instances, their queues of state, their life cycles before the commit, and error boundaries. */
import { reconcile, deleteNode } from './children.js';
import { OUTSIDE } from './hooks/dispatchers.js';
import { beginContexts, endContexts, readContext } from './hooks/cursor.js';
import { isOwn } from './errors.js';
import {
  CALLBACK,
  HOST,
  MOUNT,
  NO_KIDS,
  REF,
  SNAPSHOT,
  UPDATE,
  enqueue,
  Update,
  type Base,
  type Node,
  type Queue,
} from './node.js';
import { REF_IS_PROP, setHooks, type Context, type Props } from './react.js';
import { complete, shallowEqual, visitKids } from './render.js';
import { laneOfUpdate, markUpdate, onCaught, rootOf } from './schedule.js';
import { Mark, rollback, take, work } from './work.js';

// oxlint-disable-next-line typescript/no-explicit-any -- instances of the app's classes
type Instance = any;
// oxlint-disable-next-line typescript/no-explicit-any -- the app's classes
type Class = any;

export class ClassData implements Queue {
  first: Update | null = null;
  last: Update | null = null;
  lanes = 0;
  callbacks: (() => void)[] | null = null;
  /** Callbacks of updates that were rendered while the class was hidden. */
  hiddenCallbacks: (() => void)[] | null = null;
  previousProps: Props = null;
  previousState: unknown = null;
  snapshot: unknown = undefined;
  forced = false;
  /** Whether the render that runs has caught an error here. */
  captured = false;
  readonly boundary: boolean;

  constructor(boundary: boolean) {
    this.boundary = boundary;
  }
}

const noContext = Object.freeze({});

const updater = {
  isMounted: (): boolean => true,
  enqueueSetState(instance: Instance, payload: unknown, callback: unknown): void {
    add(instance, 0, payload, callback);
  },
  enqueueReplaceState(instance: Instance, payload: unknown, callback: unknown): void {
    add(instance, 1, payload, callback);
  },
  enqueueForceUpdate(instance: Instance, callback: unknown): void {
    add(instance, 2, null, callback);
  },
};

function add(instance: Instance, tag: number, payload: unknown, callback: unknown): void {
  const node = instance._reactInternals as Node;
  const update = new Update(laneOfUpdate(node), 0, tag, payload);
  if (callback !== undefined && callback !== null) update.callback = callback;
  if (work.rendering && rendered === node) {
    // UNSAFE_componentWillMount and its like: the render that runs takes the update up.
    enqueue(node.data as ClassData, update);
    return;
  }
  markUpdate(node, node.data as ClassData, update);
}

/** The class whose life cycles run in a render. */
let rendered: Node | null = null;

export function classProps(type: Class, props: Props): Props {
  let own = props;
  if (REF_IS_PROP && 'ref' in props) {
    own = {};
    for (const name in props) if (name !== 'ref') own[name] = props[name];
  }
  const defaults = type.defaultProps;
  if (defaults !== undefined && defaults !== null) {
    own = own === props ? { ...props } : own;
    for (const name in defaults) if (own[name] === undefined) own[name] = defaults[name];
  }
  return own;
}

function contextOf(type: Class): unknown {
  const { contextType } = type;
  return typeof contextType === 'object' && contextType !== null
    ? readContext(contextType as Context)
    : noContext;
}

function derive(node: Node, props: Props): void {
  const derived = node.component.getDerivedStateFromProps(props, node.state);
  if (derived === null || derived === undefined) return;
  node.state = { ...node.state, ...derived };
}

/** State after all updates of this render's lanes; notes callbacks, forced updates and errors from commits. */
function settle(node: Node, data: ClassData, props: Props, instance: Instance): void {
  data.forced = false;
  const base = node.hooks as Base | null;
  let rest = take(data);
  if (base === null && rest === null) return;
  const { lanes } = work;
  let state: unknown = base === null ? node.state : base.state;
  let skipped: Update[] | null = null;
  let skippedState: unknown;
  const old = base === null ? 0 : base.updates.length;
  for (let i = 0; i < old || rest !== null; i++) {
    let update: Update;
    if (i < old) update = base!.updates[i]!;
    else {
      update = rest!;
      rest = update.next;
    }
    if ((update.lane & lanes) !== update.lane) {
      if (skipped === null) {
        skipped = [];
        skippedState = state;
      }
      skipped.push(update.copy(update.lane, update.callback));
      node.lanes |= update.lane;
      continue;
    }
    if (skipped !== null) skipped.push(update.copy(0, null));
    state = apply(update, state, props, instance, data);
    if (update.callback !== null) {
      (data.callbacks ??= []).push(update.callback as () => void);
      node.flags |= CALLBACK;
    }
  }
  node.state = state;
  node.hooks = skipped === null ? null : ({ state: skippedState, updates: skipped } satisfies Base);
}

function apply(update: Update, state: unknown, props: Props, instance: Instance, data: ClassData): unknown {
  const { tag, action } = update;
  if (tag === 2) {
    data.forced = true;
    return state;
  }
  if (tag === 3) data.captured = true;
  const value: unknown = typeof action === 'function' ? action.call(instance, state, props) : action;
  if (tag === 1) return value;
  if (value === null || value === undefined) return state;
  return { ...(state as object), ...value };
}

function construct(node: Node, type: Class, props: Props): Instance {
  const instance = new type(props, contextOf(type));
  node.state = instance.state === null || instance.state === undefined ? null : instance.state;
  instance.updater = updater;
  instance._reactInternals = node;
  node.instance = instance;
  const data = new ClassData(
    typeof type.getDerivedStateFromError === 'function' || typeof instance.componentDidCatch === 'function',
  );
  node.data = data;
  instance.props = props;
  instance.state = node.state;
  instance.refs = {};
  instance.context = contextOf(type);
  if (typeof type.getDerivedStateFromProps === 'function') {
    derive(node, props);
    instance.state = node.state;
  } else if (typeof instance.getSnapshotBeforeUpdate !== 'function') {
    const before = instance.state;
    if (typeof instance.componentWillMount === 'function') instance.componentWillMount();
    if (typeof instance.UNSAFE_componentWillMount === 'function') instance.UNSAFE_componentWillMount();
    if (before !== instance.state) updater.enqueueReplaceState(instance, instance.state, null);
    settle(node, data, props, instance);
    instance.state = node.state;
  }
  if (typeof instance.componentDidMount === 'function') node.flags |= MOUNT;
  return instance;
}

/** Brings an instance to its new props and state; true if it has to render. */
function advance(node: Node, given: Props, raw: Props): boolean {
  const type = node.component;
  const { instance } = node;
  const data = node.data as ClassData;
  const before = node.props;
  const resolvedBefore = classProps(type, before);
  const oldState = node.state as unknown;
  data.previousProps = before;
  data.previousState = oldState;
  instance.props = resolvedBefore;
  const oldContext = instance.context as unknown;
  const contextChanged = beginContexts(node);
  const context = contextOf(type);
  const modern =
    typeof type.getDerivedStateFromProps === 'function' ||
    typeof instance.getSnapshotBeforeUpdate === 'function';
  if (!modern && (before !== raw || oldContext !== context)) willReceive(instance, given, context);
  instance.state = oldState;
  settle(node, data, given, instance);
  const changed = before !== raw || oldState !== node.state;
  const has = (name: string): boolean => typeof instance[name] === 'function';
  let renders = false;
  if (changed || data.forced || contextChanged) {
    if (typeof type.getDerivedStateFromProps === 'function') derive(node, given);
    const state = node.state as unknown;
    renders =
      data.forced ||
      shouldUpdate(type, instance, resolvedBefore, given, oldState, state, context) ||
      contextChanged;
    if (renders) {
      if (!modern) {
        if (has('componentWillUpdate')) instance.componentWillUpdate(given, state, context);
        if (has('UNSAFE_componentWillUpdate')) instance.UNSAFE_componentWillUpdate(given, state, context);
      }
      if (has('componentDidUpdate')) node.flags |= UPDATE;
      if (has('getSnapshotBeforeUpdate')) noteSnapshot(node);
    }
    instance.props = given;
    instance.state = state;
    instance.context = context;
  }
  return renders;
}

function noteSnapshot(node: Node): void {
  if (work.revealing > 0) return;
  node.flags |= SNAPSHOT;
  work.early = true;
}

function willReceive(instance: Instance, props: Props, context: unknown): void {
  const { state } = instance;
  if (typeof instance.componentWillReceiveProps === 'function')
    instance.componentWillReceiveProps(props, context);
  if (typeof instance.UNSAFE_componentWillReceiveProps === 'function')
    instance.UNSAFE_componentWillReceiveProps(props, context);
  if (instance.state !== state) updater.enqueueReplaceState(instance, instance.state, null);
}

function shouldUpdate(
  type: Class,
  instance: Instance,
  oldProps: Props,
  props: Props,
  oldState: unknown,
  state: unknown,
  context: unknown,
): boolean {
  if (typeof instance.shouldComponentUpdate === 'function')
    return Boolean(instance.shouldComponentUpdate(props, state, context));
  if (type.prototype?.isPureReactComponent)
    return !shallowEqual(oldProps, props) || !shallowEqual(oldState, state);
  return true;
}

export function renderClass(node: Node, raw: Props, ref: unknown, mounting: boolean, below: number): void {
  const type = node.component;
  setHooks(OUTSIDE);
  const props = classProps(type, raw);
  let renders = true;
  const outer = rendered;
  rendered = node;
  if (mounting) {
    beginContexts(node);
    construct(node, type, props);
  } else {
    const data = node.data as ClassData;
    data.callbacks = null;
    data.captured = false;
    renders = advance(node, props, raw);
  }
  if (node.ref !== ref || (mounting && ref !== null)) node.flags |= REF;
  node.ref = ref;
  node.props = raw;
  const data = node.data as ClassData;
  if (data.captured) {
    rendered = outer;
    endContexts(node);
    renderCaptured(node);
  } else if (renders) {
    const children: unknown = node.instance.render();
    rendered = outer;
    endContexts(node);
    guard(node, data, children, true);
  } else {
    rendered = outer;
    endContexts(node);
    if (below !== 0) guard(node, data, null, false);
  }
  if ((node.flags & ~HOST) !== 0) complete(node);
}

export function descendClass(node: Node): void {
  const data = node.data as ClassData;
  data.captured = false;
  data.callbacks = null;
  data.previousProps = node.props;
  data.previousState = node.state;
  node.flags = 0;
  guard(node, data, null, false);
  if (node.flags !== 0) complete(node);
}

/** Renders the children, or goes down to updates below; an error there is caught here if the class is a boundary. */
function guard(node: Node, data: ClassData, children: unknown, renders: boolean): void {
  if (!data.boundary) {
    if (renders) reconcile(node, children);
    else visitKids(node);
    return;
  }
  const mark = new Mark();
  const { kids } = node;
  try {
    if (renders) reconcile(node, children);
    else visitKids(node);
  } catch (error) {
    if (isOwn(error) || !work.recovering || !catches(node)) throw error;
    rollback(mark);
    node.kids = kids;
    capture(node, data, error);
  }
}

/** Whether a class catches the next error. */
export function catches(node: Node): boolean {
  const { instance } = node;
  return (
    typeof node.component.getDerivedStateFromError === 'function' ||
    (typeof instance.componentDidCatch === 'function' &&
      rootOf(node)?.failedBoundaries?.has(instance) !== true)
  );
}

/** The update by which a boundary takes an error, in a render or after a commit. */
export function captureUpdate(node: Node, error: unknown, lane: number): Update {
  const { instance } = node;
  const type = node.component;
  const derives = typeof type.getDerivedStateFromError === 'function';
  const update = new Update(lane, 0, 3, derives ? () => type.getDerivedStateFromError(error) : null);
  update.callback = () => {
    onCaught(node, error);
    if (typeof instance.componentDidCatch !== 'function') return;
    const root = rootOf(node);
    if (!derives && root !== null) (root.failedBoundaries ??= new Set()).add(instance);
    instance.componentDidCatch(error, { componentStack: '' });
  };
  return update;
}

function capture(node: Node, data: ClassData, error: unknown): void {
  const { instance } = node;
  const before = node.state as unknown;
  const update = captureUpdate(node, error, 0);
  node.state = apply(update, before, instance.props, instance, data);
  (data.callbacks ??= []).push(update.callback as () => void);
  node.flags |= CALLBACK;
  const type = node.component;
  if (node.state !== before && typeof type.getDerivedStateFromProps === 'function')
    derive(node, instance.props);
  const { state } = node;
  const advanced = node.props !== data.previousProps || before !== data.previousState;
  // As if the boundary were updated a second time, from what the first one has given.
  const updates =
    state !== before &&
    shouldUpdate(type, instance, instance.props, instance.props, before, state, instance.context);
  if (data.previousProps !== null && (advanced || updates)) {
    if (typeof instance.componentDidUpdate === 'function') node.flags |= UPDATE;
    if (typeof instance.getSnapshotBeforeUpdate === 'function') noteSnapshot(node);
  }
  instance.state = state;
  renderCaptured(node);
}

/** Renders a boundary that has caught an error: nothing of its children stays. */
function renderCaptured(node: Node): void {
  const derives = typeof node.component.getDerivedStateFromError === 'function';
  setHooks(OUTSIDE);
  const children: unknown = derives ? node.instance.render() : null;
  for (const kid of node.kids) if (kid !== null) deleteNode(kid);
  node.kids = NO_KIDS;
  reconcile(node, children);
}
