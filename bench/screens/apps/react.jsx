// React by react-reconciler with a plain host.
import Reconciler from 'react-reconciler';
import {
  ConcurrentRoot,
  DefaultEventPriority,
  DiscreteEventPriority,
  NoEventPriority,
} from 'react-reconciler/constants.js';
import { create, place, remove, set, setStyle } from './host.js';
import { Home } from './view.jsx';

let priority = NoEventPriority;
let withKey;

function removeOf(_parent, child) {
  remove(child.id);
  if (withKey === child) withKey = undefined;
}

const appendOf = (parent, child) => place(parent.id, child.id, 0);
const insertOf = (parent, child, before) => place(parent.id, child.id, before.id);

const reconciler = Reconciler({
  supportsMutation: true,
  supportsPersistence: false,
  supportsHydration: false,
  isPrimaryRenderer: true,
  noTimeout: -1,
  scheduleTimeout: setTimeout,
  cancelTimeout: clearTimeout,
  createInstance(_type, props) {
    const id = create();
    if (props.image !== undefined) set(id, 'image', props.image);
    if (props.text !== undefined) set(id, 'text', props.text);
    setStyle(id, undefined, props.style);
    const instance = { id, props };
    if (props.onKey !== undefined) withKey = instance;
    return instance;
  },
  createTextInstance() {
    throw new Error('text goes into the `text` prop');
  },
  appendInitialChild: appendOf,
  appendChild: appendOf,
  appendChildToContainer: appendOf,
  insertBefore: insertOf,
  insertInContainerBefore: insertOf,
  removeChild: removeOf,
  removeChildFromContainer: removeOf,
  clearContainer() {},
  finalizeInitialChildren: () => false,
  commitMount() {},
  commitUpdate(instance, _type, before, now) {
    instance.props = now;
    if (before.image !== now.image) set(instance.id, 'image', now.image);
    if (before.text !== now.text) set(instance.id, 'text', now.text);
    setStyle(instance.id, before.style, now.style);
    if (now.onKey !== undefined) withKey = instance;
  },
  shouldSetTextContent: () => false,
  getRootHostContext: () => null,
  getChildHostContext: (context) => context,
  getPublicInstance: (instance) => instance,
  prepareForCommit: () => null,
  resetAfterCommit() {},
  preparePortalMount() {},
  hideInstance() {},
  unhideInstance() {},
  detachDeletedInstance() {},
  getInstanceFromNode: () => null,
  beforeActiveInstanceBlur() {},
  afterActiveInstanceBlur() {},
  prepareScopeUpdate() {},
  getInstanceFromScope: () => null,
  setCurrentUpdatePriority(now) {
    priority = now;
  },
  getCurrentUpdatePriority: () => priority,
  resolveUpdatePriority: () => (priority === NoEventPriority ? DefaultEventPriority : priority),
  shouldAttemptEagerTransition: () => false,
  requestPostPaintCallback() {},
  maySuspendCommit: () => false,
  preloadInstance: () => true,
  startSuspendingCommit: () => null,
  suspendInstance() {},
  waitForCommitToBeReady: () => null,
  NotPendingTransition: null,
  HostTransitionContext: { $$typeof: Symbol.for('react.context'), _currentValue: null, _currentValue2: null },
  resetFormInstance() {},
  trackSchedulerEvent() {},
  resolveEventType: () => null,
  resolveEventTimeStamp: () => -1.1,
});

const report = (error) => {
  throw error;
};

/** Mounts the screen. */
export function mount() {
  const root = reconciler.createContainer(
    { id: 0 },
    ConcurrentRoot,
    null,
    false,
    null,
    '',
    report,
    report,
    report,
    () => {},
    null,
  );
  reconciler.updateContainerSync(<Home />, root, null, null);
  reconciler.flushSyncWork();
  reconciler.flushPassiveEffects();
  return {
    key(name) {
      priority = DiscreteEventPriority;
      withKey.props.onKey({ key: name });
      priority = NoEventPriority;
      reconciler.flushSyncWork();
    },
    unmount() {
      reconciler.updateContainerSync(null, root, null, null);
      reconciler.flushSyncWork();
      reconciler.flushPassiveEffects();
    },
  };
}
