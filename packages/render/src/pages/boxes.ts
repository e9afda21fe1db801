/**
 * What becomes of each box: HTML by a task of its own or of a remote service, or a hole that the browser renders. It must not
 * know how a page is put together or sent.
 */
import { NO_SLOTS, slotsOf } from '../adapters/slot.js';
import type { Component, Hydration } from '../component.js';
import { referenceOf } from '../css/order.js';
import type { Dial } from '../dial/dial.js';
import type { Outcome, RenderHost } from '../host.js';
import { RemoteError } from '../remote/errors.js';
import { RemoteView } from '../remote/remote.js';
import { createScope, type PageTasks } from '../tasks/queue.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { Failure, TaskResult } from '../tasks/result.js';
import type { Found } from './lookup.js';
import { jsonComponent } from './json-form.js';
import type { Overruns } from './overruns.js';
import type { Box, Deferred, Item } from './plan.js';
import { SourceError } from './sources.js';
import { Turns } from './turns.js';

/** `hole` of a box. */
export type Hole = 'late' | 'error' | 'unknown' | 'client' | 'remote';

/** A box with what became of it. */
export interface Result {
  readonly box: Box;
  /** Undefined where there is none of that name. */
  readonly component: Component | undefined;
  readonly outcome: Outcome;
  /** HTML, or the text of the JSON form; undefined for a hole. */
  readonly text: string | undefined;
  readonly hole: Hole | undefined;
  /** When the browser takes over; undefined for never. */
  readonly hydration: Hydration | undefined;
  readonly cpu_us: number;
  readonly waited_us: number;
  readonly error: Error | undefined;
}

export interface BoxesOptions {
  readonly tasks: PageTasks;
  readonly find: (box: Box) => Found;
  readonly dial: Dial;
  readonly overruns: Overruns | undefined;
  readonly host: RenderHost | undefined;
  readonly format: 'html' | 'json';
  readonly signal: AbortSignal;
  readonly onError: (error: Error, component: string, box: string) => void;
}

const HOLES: Readonly<Record<Failure, Hole>> = {
  error: 'error',
  late: 'late',
  unknown: 'unknown',
  invalid: 'error',
  aborted: 'late',
};
const REMOTE_OUTCOMES: Readonly<Record<RemoteError['reason'], Outcome>> = {
  late: 'remote-late',
  error: 'remote-error',
  open: 'remote-open',
  aborted: 'aborted',
};
const HYDRATION: Hydration = 'load';

export class Boxes {
  readonly #options: BoxesOptions;
  /** Undefined for those that have no result yet. */
  readonly #results = new Map<Box, Result | undefined>();
  /** Who waits for a box. */
  readonly #waiting = new Map<Box, ((result: Result) => void)[]>();
  readonly #items = new Map<Deferred, Promise<readonly Item[]>>();
  readonly #settledItems = new Map<Deferred, readonly Item[]>();
  readonly #turns = new Turns();
  #beLate: () => void = () => undefined;
  readonly #late: Promise<'late'>;
  #isLate = false;
  /** The async context of those that are started now. */
  #scope = createScope();

  constructor(options: BoxesOptions) {
    this.#options = options;
    this.#late = new Promise((resolve) => {
      this.#beLate = () => resolve('late');
    });
  }

  /** Starts all boxes: remote ones first, because they wait anyway, then the others in the order of the tree. */
  start(items: readonly Item[], isResumed = false): void {
    const remote: Box[] = [];
    const local: Box[] = [];
    for (const box of boxesOf(items)) (this.#isRemote(box) ? remote : local).push(box);
    this.#scope = createScope();
    for (const box of remote) this.#startBox(box, isResumed);
    for (const box of local) this.#startBox(box, isResumed);
    for (const deferred of deferredOf(items)) this.#startDeferred(deferred);
  }

  /** What is not there yet is late from now on. */
  giveUp(): void {
    this.#isLate = true;
    for (const [box, result] of this.#results) if (result === undefined) this.#settle(this.#lateHole(box));
    this.#beLate();
  }

  /** The result, where it is there. */
  settled(box: Box): Result | undefined {
    return this.#results.get(box);
  }

  settledItems(deferred: Deferred): readonly Item[] | undefined {
    return this.#settledItems.get(deferred);
  }

  result(box: Box): Promise<Result> {
    const result = this.#results.get(box);
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve, reject) => {
      if (!this.#results.has(box)) reject(new Error(`box ${box.id} was not started`));
      const waiting = this.#waiting.get(box);
      if (waiting === undefined) this.#waiting.set(box, [resolve]);
      else waiting.push(resolve);
    });
  }

  async items(deferred: Deferred): Promise<readonly Item[]> {
    return this.#items.get(deferred) ?? [];
  }

  /** Resolves when it is clear that the box waits for something, rather than for its turn. */
  async waits(box: Box): Promise<unknown> {
    return this.#isRemote(box) ? undefined : this.#turns.passed(box);
  }

  #startDeferred(deferred: Deferred): void {
    const items = Promise.race([deferred.items, this.#late]).then((given) => {
      const planned = given === 'late' ? [lateBox(deferred)] : given;
      this.start(planned, true);
      this.#settledItems.set(deferred, planned);
      return planned;
    });
    this.#items.set(deferred, items);
  }

  #startBox(box: Box, isResumed: boolean): void {
    if (!isResumed) this.#turns.take(box);
    this.#results.set(box, undefined);
    const result = this.#isLate ? this.#lateHole(box) : this.#begin(box, isResumed);
    if (result !== undefined) this.#settle(result);
  }

  /** What comes when the box is late already changes nothing any more. */
  #settle(result: Result): void {
    const { box } = result;
    if (this.#results.get(box) !== undefined) return;
    this.#results.set(box, result);
    this.#turns.pass(box);
    this.#tell(result);
    const waiting = this.#waiting.get(box);
    if (waiting === undefined) return;
    this.#waiting.delete(box);
    for (const resolve of waiting) resolve(result);
  }

  /** The result where there is nothing to wait for. */
  #begin(box: Box, isResumed: boolean): Result | undefined {
    const found = this.#options.find(box);
    const { failure } = box;
    if (failure !== undefined) {
      const reason = failure instanceof SourceError && failure.isLate ? 'late' : 'error';
      return this.#hole(box, reason, reason, failure);
    }
    if (found instanceof Error) {
      const reason = found instanceof LateError ? 'late' : 'error';
      return this.#hole(box, reason, reason, found);
    }
    if (found === undefined) {
      const error = new ReferenceError(`Component "${box.node.component}" not registered`);
      return this.#hole(box, 'unknown', 'unknown', error);
    }
    if (found === 'unsupported') return this.#hole(box, 'unsupported', undefined);
    if (this.#options.format === 'json')
      return this.#startTask(box, jsonComponent(found), isResumed, undefined);
    if (found.view instanceof RemoteView) {
      void this.#runRemote(box, found.view);
      return undefined;
    }
    const rendering = box.node.rendering ?? found.settings.rendering ?? 'server';
    if (rendering === 'static') return this.#startTask(box, found, isResumed, undefined);
    const { dial, overruns } = this.#options;
    if (rendering === 'client' || !dial.server(found.name)) return this.#hole(box, 'client', 'client');
    if (overruns?.isSuspended(referenceOf(found), performance.now()) === true)
      return this.#hole(box, 'suspended', 'late');
    return this.#startTask(box, found, isResumed, this.#hydration(box, found));
  }

  #startTask(
    box: Box,
    component: Component,
    isResumed: boolean,
    hydration: Hydration | undefined,
  ): undefined {
    const { id, props, slots } = box;
    const context = {
      id,
      slots: slots.size === 0 ? NO_SLOTS : slotsOf([...slots.keys()]),
      isStatic: hydration === undefined,
    };
    const done = (task: TaskResult): void => {
      if (hydration !== undefined) this.#noteOverrun(component, task);
      this.#settle(this.#resultOf(box, task, hydration));
    };
    this.#options.tasks.start({ component, props, isResumed, context }, done, this.#scope);
  }

  #resultOf(box: Box, task: TaskResult, hydration: Hydration | undefined): Result {
    const { cpu_us, waited_us } = task;
    if (!task.ok) {
      const hole = this.#hole(box, task.reason, HOLES[task.reason], task.error);
      return { ...hole, cpu_us, waited_us };
    }
    const outcome = task.isCached ? 'cached' : task.isOverBudget ? 'over-budget' : 'rendered';
    return this.#rendered(box, outcome, task.html, hydration, cpu_us, waited_us);
  }

  async #runRemote(box: Box, view: RemoteView): Promise<void> {
    let result: Result;
    try {
      const { html, isCached } = await view.render(box.props, this.#options.signal);
      result = this.#rendered(box, isCached ? 'cached' : 'rendered', html, undefined, 0, 0);
    } catch (thrown) {
      const error = toError(thrown);
      const reason = error instanceof RemoteError ? error.reason : 'error';
      result = this.#hole(box, REMOTE_OUTCOMES[reason], 'remote', error);
    }
    this.#settle(result);
  }

  #lateHole(box: Box): Result {
    return this.#hole(box, 'late', 'late', lateError(box));
  }

  #rendered(
    box: Box,
    outcome: Outcome,
    text: string,
    hydration: Hydration | undefined,
    cpu_us: number,
    waited_us: number,
  ): Result {
    const component = this.#component(box);
    return { box, component, outcome, text, hole: undefined, hydration, cpu_us, waited_us, error: undefined };
  }

  #hole(box: Box, outcome: Outcome, hole: Hole | undefined, error?: Error): Result {
    const component = this.#component(box);
    const rendering = box.node.rendering ?? component?.settings.rendering;
    // The browser has no code for it.
    const isStatic = rendering === 'static';
    const hydration = component === undefined || isStatic ? undefined : this.#hydration(box, component);
    const common = { box, component, outcome, text: undefined, hydration, cpu_us: 0, waited_us: 0, error };
    return { ...common, hole: isStatic ? undefined : hole };
  }

  #component(box: Box): Component | undefined {
    const found = this.#options.find(box);
    return found instanceof Error || found === 'unsupported' ? undefined : found;
  }

  #hydration(box: Box, component: Component): Hydration {
    return box.node.hydration ?? component.settings.hydration ?? HYDRATION;
  }

  #isRemote(box: Box): boolean {
    return this.#options.format === 'html' && this.#component(box)?.view instanceof RemoteView;
  }

  #noteOverrun(component: Component, task: TaskResult): void {
    if (task.ok && task.isCached) return;
    const isOver = task.ok ? task.isOverBudget : task.reason === 'late';
    this.#options.overruns?.note(referenceOf(component), isOver, performance.now());
  }

  #tell({ box, component, outcome, cpu_us, error }: Result): void {
    const { host, dial, onError } = this.#options;
    const name = component?.name ?? box.node.component;
    host?.rendered({ component: name, outcome, cpu_us, setting: dial.setting });
    if (error !== undefined && outcome !== 'aborted') onError(error, name, box.id);
  }
}

function* boxesOf(items: readonly Item[]): Generator<Box> {
  for (const item of items) {
    if (item.kind === 'deferred') continue;
    yield item;
    for (const inner of item.slots.values()) yield* boxesOf(inner);
  }
}

function* deferredOf(items: readonly Item[]): Generator<Deferred> {
  for (const item of items) {
    if (item.kind === 'deferred') yield item;
    else for (const inner of item.slots.values()) yield* deferredOf(inner);
  }
}

function lateBox({ id, node }: Deferred): Box {
  return {
    kind: 'box',
    id,
    node,
    props: {},
    slots: new Map(),
    failure: new SourceError(id, 'is late for its page', true),
  };
}

function lateError({ id, node }: Box): Error {
  return new LateError(`The page's time was up before box ${id} (${node.component}) was there`);
}
