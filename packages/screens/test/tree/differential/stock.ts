/** react-reconciler with a plain host: what ours is compared with. */
import { createContext } from 'react';
import { clearTimer, loadReconciler, microtasks, reset, runAll, setTimer } from './scheduler.ts';

export interface Instance {
  props: { readonly text?: string };
  readonly children: Instance[];
  hidden: boolean;
  readonly handle: { readonly name: string };
}

interface Container {
  readonly children: Instance[];
}

let priority = 0;
let eventPriority = 32;

function insert(parent: Container, child: Instance, before?: Instance): void {
  const index = parent.children.indexOf(child);
  if (index >= 0) parent.children.splice(index, 1);
  if (before === undefined) parent.children.push(child);
  else parent.children.splice(parent.children.indexOf(before), 0, child);
}

function remove(parent: Container, child: Instance): void {
  parent.children.splice(parent.children.indexOf(child), 1);
}

const config = {
  isPrimaryRenderer: true,
  warnsIfNotActing: false,
  supportsMutation: true,
  supportsPersistence: false,
  supportsHydration: false,
  supportsMicrotasks: true,
  scheduleMicrotask: (run: () => void) => microtasks.push(run),
  scheduleTimeout: setTimer,
  cancelTimeout: clearTimer,
  noTimeout: -1,
  getRootHostContext: () => null,
  getChildHostContext: (context: unknown) => context,
  getPublicInstance: (instance: Instance) => instance.handle,
  prepareForCommit: () => null,
  resetAfterCommit: () => {},
  createInstance: (_type: string, props: Instance['props']): Instance => ({
    props,
    children: [],
    hidden: false,
    handle: { name: props.text ?? '' },
  }),
  appendInitialChild: insert,
  finalizeInitialChildren: () => false,
  shouldSetTextContent: () => false,
  createTextInstance: () => {
    throw new Error('text');
  },
  getInstanceFromNode: () => null,
  beforeActiveInstanceBlur: () => {},
  afterActiveInstanceBlur: () => {},
  preparePortalMount: () => {},
  prepareScopeUpdate: () => {},
  getInstanceFromScope: () => null,
  detachDeletedInstance: () => {},
  appendChild: insert,
  appendChildToContainer: insert,
  insertBefore: insert,
  insertInContainerBefore: insert,
  removeChild: remove,
  removeChildFromContainer: remove,
  clearContainer: (container: Container) => {
    container.children.length = 0;
  },
  commitUpdate: (instance: Instance, _type: string, _before: unknown, props: Instance['props']) => {
    instance.props = props;
  },
  commitMount: () => {},
  hideInstance: (instance: Instance) => {
    instance.hidden = true;
  },
  unhideInstance: (instance: Instance) => {
    instance.hidden = false;
  },
  setCurrentUpdatePriority: (value: number) => {
    priority = value;
  },
  getCurrentUpdatePriority: () => priority,
  resolveUpdatePriority: () => (priority === 0 ? eventPriority : priority),
  resolveEventType: () => null,
  resolveEventTimeStamp: () => -1.1,
  shouldAttemptEagerTransition: () => false,
  trackSchedulerEvent: () => {},
  requestPostPaintCallback: () => {},
  maySuspendCommit: () => false,
  maySuspendCommitOnUpdate: () => false,
  maySuspendCommitInSyncRender: () => false,
  preloadInstance: () => true,
  startSuspendingCommit: () => null,
  suspendInstance: () => {},
  suspendOnActiveViewTransition: () => {},
  waitForCommitToBeReady: () => null,
  NotPendingTransition: null,
  HostTransitionContext: createContext(null),
  resetFormInstance: () => {},
};

const makeReconciler = loadReconciler();
let reconciler = makeReconciler(config);
/** Whether an error may have left work in the reconciler. */
let spoiled = false;

export interface Errors {
  readonly uncaught: (error: unknown) => void;
  readonly caught: (error: unknown) => void;
}

export class Stock {
  private readonly container: Container = { children: [] };
  private readonly root: unknown;

  constructor({ uncaught, caught }: Errors, firstLane: number) {
    // Histories do not depend on those before.
    reset();
    if (spoiled) reconciler = makeReconciler(config);
    spoiled = false;
    reconciler.setTransitionLane(256 << firstLane);
    this.root = reconciler.createContainer(
      this.container,
      1,
      null,
      false,
      null,
      '',
      uncaught,
      caught,
      () => {},
      () => {},
      null,
    );
  }

  render(element: unknown): void {
    reconciler.updateContainer(element, this.root, null, null);
  }

  /** Runs updates as those of a discrete event. */
  discrete(run: () => void): void {
    eventPriority = 2;
    try {
      run();
    } finally {
      eventPriority = 32;
    }
  }

  /** Ends an event: what is urgent is rendered. */
  flush(): void {
    spoiled = true;
    runAll();
    spoiled = false;
  }

  show(): string {
    return `(${this.container.children.map(showInstance).join(' ')})`;
  }
}

function showInstance(instance: Instance): string {
  return `${instance.props.text ?? ''}${instance.hidden ? '!' : ''}(${instance.children.map(showInstance).join(' ')})`;
}
