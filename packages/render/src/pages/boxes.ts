/**
 * Fates of boxes: HTML by a task of its own or of a remote service, or a hole that the browser renders. It must not know how
 * a page is put together or sent.
 */
import { NO_SLOTS, slotsOf } from '../adapters/slot.js';
import type { Component, Hydration } from '../component.js';
import { referenceOf } from '../css/order.js';
import type { Dial } from '../dial/dial.js';
import type { RenderHost } from '../host.js';
import { RemoteView } from '../remote/remote.js';
import { createScope, type PageTasks } from '../tasks/queue.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { TaskResult } from '../tasks/result.js';
import { checkedAlone } from './checked-alone.js';
import { jsonComponent } from './json-form.js';
import type { Overruns } from './overruns.js';
import { boxesOf, deferredOf, type Box, type Deferred, type Item } from './plan.js';
import { remoteOutcomeOf, Results, type Result, type ResultsOptions } from './results.js';
import { SourceError } from './sources.js';
import { Order } from './order.js';

export interface BoxesOptions extends ResultsOptions {
  readonly tasks: PageTasks;
  readonly dial: Dial;
  readonly overruns: Overruns | undefined;
  readonly host: RenderHost | undefined;
  readonly format: 'html' | 'json';
  readonly signal: AbortSignal;
  readonly onError: (error: Error, component: string, box: string) => void;
}

export class Boxes {
  readonly results: Results;
  readonly #options: BoxesOptions;
  /** Undefined for those that have no result yet. */
  readonly #there = new Map<Box, Result | undefined>();
  /** Callbacks that wait for a box. */
  readonly #waiting = new Map<Box, ((result: Result) => void)[]>();
  readonly #items = new Map<Deferred, Promise<readonly Item[]>>();
  readonly #settledItems = new Map<Deferred, readonly Item[]>();
  readonly #order = new Order();
  #beLate: (late: 'late') => void = () => undefined;
  readonly #late: Promise<'late'>;
  #isLate = false;
  /** The async context of those that are started now. */
  #scope = createScope();

  constructor(options: BoxesOptions) {
    this.#options = options;
    this.results = new Results(options);
    this.#late = new Promise((resolve) => {
      this.#beLate = resolve;
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

  /** Gives up: a box that is not there yet is late from now on. */
  giveUp(): void {
    this.#isLate = true;
    for (const [box, result] of this.#there) if (result === undefined) this.#settle(this.results.late(box));
    this.#beLate('late');
  }

  /** The result, where it is there. */
  settled(box: Box): Result | undefined {
    return this.#there.get(box);
  }

  settledItems(deferred: Deferred): readonly Item[] | undefined {
    return this.#settledItems.get(deferred);
  }

  result(box: Box): Promise<Result> {
    const result = this.#there.get(box);
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve, reject) => {
      if (!this.#there.has(box)) reject(new Error(`box ${box.id} was not started`));
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
    return this.#isRemote(box) ? undefined : this.#order.passed(box);
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
    if (!isResumed) this.#order.take(box);
    this.#there.set(box, undefined);
    const result = this.#isLate ? this.results.late(box) : this.#begin(box, isResumed);
    if (result !== undefined) this.#settle(result);
  }

  /** Settles a box. A result of a late box changes nothing any more. */
  #settle(result: Result): void {
    const { box } = result;
    if (this.#there.get(box) !== undefined) return;
    this.#there.set(box, result);
    this.#order.pass(box);
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
      return this.results.hole(box, reason, reason, failure);
    }
    if (found instanceof Error) {
      const reason = found instanceof LateError ? 'late' : 'error';
      return this.results.hole(box, reason, reason, found);
    }
    if (found === undefined) {
      const error = new ReferenceError(`Component "${box.node.component}" not registered`);
      return this.results.hole(box, 'unknown', 'unknown', error);
    }
    if (found === 'unsupported') return this.results.hole(box, 'unsupported', undefined);
    if (this.#options.format === 'json')
      return this.#startTask(box, jsonComponent(found), isResumed, undefined);
    if (found.view instanceof RemoteView) {
      void this.#runRemote(box, found.view);
      return undefined;
    }
    const rendering = box.node.rendering ?? found.settings.rendering ?? 'server';
    if (rendering === 'static') return this.#startTask(box, found, isResumed, undefined);
    const { dial, overruns } = this.#options;
    if (rendering === 'client' || !dial.server(found.name))
      return this.#leave(box, found, isResumed, this.results.hole(box, 'client', 'client'));
    if (overruns?.isSuspended(referenceOf(found), performance.now()) === true)
      return this.#leave(box, found, isResumed, this.results.hole(box, 'suspended', 'late'));
    return this.#startTask(box, found, isResumed, this.results.hydration(box, found));
  }

  /** The browser renders it, of the props that the schema gives. */
  #leave(box: Box, component: Component, isResumed: boolean, hole: Result): Result | undefined {
    if (component.settings.props === undefined) return hole;
    const { id, given } = box;
    const done = (task: TaskResult): void => {
      const { cpu_us, waited_us } = task;
      this.#settle(task.ok ? { ...hole, cpu_us, waited_us } : this.results.ofTask(box, task, undefined));
    };
    const job = {
      component: checkedAlone(component),
      props: this.results.props(box) ?? given,
      isResumed,
      context: { id, slots: NO_SLOTS },
    };
    this.#options.tasks.start(job, done, this.#scope);
    return undefined;
  }

  #startTask(
    box: Box,
    component: Component,
    isResumed: boolean,
    hydration: Hydration | undefined,
  ): undefined {
    const { id, given, slots } = box;
    const props = this.results.props(box);
    const context = {
      id,
      slots: slots.size === 0 ? NO_SLOTS : slotsOf([...slots.keys()]),
      isStatic: hydration === undefined,
    };
    const done = (task: TaskResult): void => {
      if (hydration !== undefined) this.#noteOverrun(component, task);
      this.#settle(this.results.ofTask(box, task, hydration, props));
    };
    this.#options.tasks.start({ component, props: props ?? given, isResumed, context }, done, this.#scope);
  }

  async #runRemote(box: Box, view: RemoteView): Promise<void> {
    let result: Result;
    try {
      const own = this.results.props(box);
      const made = own?.made() ?? box.given;
      // Boxes that ask at once share a request.
      const props = made instanceof Promise ? await made : made;
      const { html, isCached } = await view.render(props, this.#options.signal);
      result = this.results.rendered(box, isCached ? 'cached' : 'rendered', html, undefined, 0, 0, own);
    } catch (thrown) {
      const error = toError(thrown);
      result = this.results.hole(box, remoteOutcomeOf(error), 'remote', error);
    }
    this.#settle(result);
  }

  #isRemote(box: Box): boolean {
    return this.#options.format === 'html' && this.results.component(box)?.view instanceof RemoteView;
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

function lateBox({ id, node }: Deferred): Box {
  return {
    kind: 'box',
    id,
    node,
    given: {},
    slots: new Map(),
    failure: new SourceError(id, 'is late for its page', true),
  };
}
