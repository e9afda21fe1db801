/** @jsxRuntime automatic @jsxImportSource react */
/** react-reconciler with the host that does the least: objects with props and children. */
import createReconciler from 'react-reconciler';
import { createContext } from 'react';
import { Row, Screen, move } from './app.tsx';
import { measure } from './measure.ts';

interface Instance {
  props: unknown;
  readonly children: Instance[];
}

let priority = 0;
let changes = 0;
const append = (parent: Instance, child: Instance): void => {
  parent.children.push(child);
};
const insert = (parent: Instance, child: Instance, before: Instance): void => {
  parent.children.splice(parent.children.indexOf(before), 0, child);
};
const remove = (parent: Instance, child: Instance): void => {
  parent.children.splice(parent.children.indexOf(child), 1);
};
const nothing = (): void => {};
const fail = (error: unknown): void => {
  console.error(error);
  process.exit(1);
};
const no = (): boolean => false;
const reconciler = createReconciler({
  isPrimaryRenderer: true,
  supportsMutation: true,
  supportsMicrotasks: true,
  scheduleMicrotask: queueMicrotask,
  scheduleTimeout: setTimeout,
  cancelTimeout: clearTimeout,
  noTimeout: -1,
  getRootHostContext: () => null,
  getChildHostContext: (context: unknown) => context,
  getPublicInstance: (instance: Instance) => instance,
  prepareForCommit: () => null,
  resetAfterCommit: nothing,
  createInstance: (_type: string, props: unknown): Instance => ({ props, children: [] }),
  appendInitialChild: append,
  finalizeInitialChildren: no,
  shouldSetTextContent: no,
  appendChild: append,
  appendChildToContainer: append,
  insertBefore: insert,
  insertInContainerBefore: insert,
  removeChild: remove,
  removeChildFromContainer: remove,
  clearContainer: nothing,
  commitUpdate: (instance: Instance, _type: string, _before: unknown, props: unknown) => {
    instance.props = props;
    changes++;
  },
  detachDeletedInstance: nothing,
  setCurrentUpdatePriority: (value: number) => {
    priority = value;
  },
  getCurrentUpdatePriority: () => priority,
  resolveUpdatePriority: () => (priority === 0 ? 32 : priority),
  resolveEventType: () => null,
  resolveEventTimeStamp: () => -1.1,
  shouldAttemptEagerTransition: no,
  trackSchedulerEvent: nothing,
  requestPostPaintCallback: nothing,
  maySuspendCommit: no,
  NotPendingTransition: null,
  HostTransitionContext: createContext(null),
} as never) as unknown as {
  createContainer(...rest: unknown[]): unknown;
  updateContainerSync(...rest: unknown[]): void;
  flushSyncWork(): void;
  flushPassiveEffects(): boolean;
};

function create(): (element: unknown) => void {
  const container: Instance = { props: null, children: [] };
  const root = reconciler.createContainer(
    container,
    1,
    null,
    false,
    null,
    '',
    fail,
    fail,
    nothing,
    nothing,
    null,
  );
  return (element) => {
    reconciler.updateContainerSync(element, root, null, null);
    reconciler.flushSyncWork();
    reconciler.flushPassiveEffects();
  };
}

create()(<Row />);
measure(
  'react-reconciler',
  (to) => {
    priority = 2;
    move(to);
    priority = 0;
    reconciler.flushSyncWork();
    reconciler.flushPassiveEffects();
  },
  () => {
    const render = create();
    render(<Screen />);
    return () => render(null);
  },
);
if (changes === 0) throw new Error('nothing has changed');
