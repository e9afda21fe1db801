/* oxlint-disable typescript/no-explicit-any, typescript/no-implied-eval -- a reconciler without types, whose source is changed */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** A scheduler for react-reconciler whose tasks run when the test says so, in the order of their priorities. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Task {
  callback: ((late: boolean) => unknown) | null;
  readonly due: number;
  readonly order: number;
}

const timeouts = [0, -1, 250, 5_000, 10_000, 1e9];
let time = 1_000;
let order = 0;
let tasks: Task[] = [];
export const microtasks: (() => void)[] = [];
let timers: { run: () => void; at: number }[] = [];

const scheduler = {
  unstable_ImmediatePriority: 1,
  unstable_UserBlockingPriority: 2,
  unstable_NormalPriority: 3,
  unstable_LowPriority: 4,
  unstable_IdlePriority: 5,
  unstable_scheduleCallback(priority: number, callback: Task['callback']): Task {
    const task = { callback, due: time + timeouts[priority]!, order: order++ };
    tasks.push(task);
    return task;
  },
  unstable_cancelCallback(task: Task): void {
    task.callback = null;
  },
  unstable_shouldYield: () => false,
  unstable_requestPaint: () => {},
  unstable_now: () => time,
  unstable_getCurrentPriorityLevel: () => 3,
  log: () => {},
  unstable_setDisableYieldValue: () => {},
};

const require = createRequire(import.meta.url);

const changes: readonly (readonly [string, string])[] = [
  // A mistake of react-reconciler 0.34, mended: a component that bails out takes lanes from its node on the screen, even if the render suspends later
  // and the component is dropped. Then updates of hidden components are forgotten until their next render. Here a commit takes those lanes.
  ['current.lanes &= ~lanes;', 'bailedOut.push(current, workInProgress, lanes);'],
  [
    'function prepareFreshStack(root, lanes) {',
    `var bailedOut = [];
    function isIn(fiber, top) {
      for (; fiber !== top; fiber = fiber.return) {
        if (fiber.return === null) return false;
        var kid = fiber.return.child;
        while (kid !== null && kid !== fiber) kid = kid.sibling;
        if (kid === null) return false;
      }
      return true;
    }
    function prepareFreshStack(root, lanes) {
      bailedOut.length = 0;`,
  ],
  [
    'root.current = finishedWork;',
    `for (var i = 0; i < bailedOut.length; i += 3)
      if (isIn(bailedOut[i + 1], finishedWork)) bailedOut[i].lanes &= ~bailedOut[i + 2];
    bailedOut.length = 0;
    root.current = finishedWork;`,
  ],
  // Retries have four lanes, taken in turns, so that chance decides whether two boundaries appear in one commit. Here all have one. Renders that only
  // prepare what waits behind a fallback are left out: a lane of theirs would say of a boundary that it is due.
  ['0 === retryLane && (retryLane = claimNextRetryLane());', '0 === retryLane && (retryLane = 4194304);'],
  ['workInProgress.flags & 16384 &&\n      ((retryQueue =', 'false &&\n      ((retryQueue ='],
  // The lane of the next transition can be set.
  [
    'exports.createContainer = ',
    `exports.setTransitionLane = (lane) => {
      nextTransitionUpdateLane = lane;
      currentEventTransitionLane = 0;
    };
    exports.createContainer = `,
  ],
];

/** react-reconciler with this scheduler in place of the one that uses the event loop, and with the changes. */
export function loadReconciler(): (config: object) => any {
  const path = require
    .resolve('react-reconciler/package.json')
    .replace('package.json', 'cjs/react-reconciler.production.js');
  let source = readFileSync(process.env['SLUICE_SCREENS_RECONCILER'] ?? path, 'utf8');
  for (const [text, other] of changes) {
    assert.equal(source.split(text).length, 2, `react-reconciler has changed: ${text}`);
    source = source.replace(text, other);
  }
  const module = { exports: {} };
  const load = (name: string): unknown => (name === 'scheduler' ? scheduler : require(name));
  new Function('module', 'exports', 'require', source)(module, module.exports, load);
  return module.exports as (config: object) => any;
}

export function setTimer(run: () => void, delay: number): { run: () => void; at: number } {
  const timer = { run, at: time + delay };
  timers.push(timer);
  return timer;
}

export function clearTimer(timer: unknown): void {
  timers = timers.filter((other) => other !== timer);
}

export function drainMicrotasks(): void {
  for (let next = microtasks.shift(); next !== undefined; next = microtasks.shift()) next();
}

/** Forgets what a history that ended in an error has left. */
export function reset(): void {
  tasks = [];
  timers = [];
  microtasks.length = 0;
}

/** Runs all that is due, then moves the clock on to the timers. */
export function runAll(): void {
  for (let runs = 0; ; runs++) {
    if (runs > 10_000) throw new Error('endless');
    drainMicrotasks();
    tasks = tasks.filter((task) => task.callback !== null);
    if (tasks.length > 0) {
      tasks.sort((a, b) => a.due - b.due || a.order - b.order);
      const task = tasks[0]!;
      const callback = task.callback!;
      task.callback = null;
      const more = callback(false);
      if (typeof more === 'function') task.callback = more as Task['callback'];
      continue;
    }
    const timer = timers.shift();
    if (timer === undefined) break;
    time = Math.max(time, timer.at);
    timer.run();
  }
  time += 1_000;
}
