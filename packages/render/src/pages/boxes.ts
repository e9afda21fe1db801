/**
 * Fates of boxes: HTML by a task of its own or of a remote service, or a hole that the browser renders. It must not know how
 * a page is put together or sent.
 */
import { NO_SLOTS, slotsOf } from '../adapters/slot.js';
import type { Component, Hydration } from '../component.js';
import type { Abort } from '../abort.js';
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
import { sortItems, type Box, type Deferred, type Item } from './plan.js';
import { remoteOutcomeOf, Results, type Result, type ResultsOptions } from './results.js';
import { SourceError } from './sources.js';
import type { Found } from './lookup.js';
import { NO_TURN, Order } from './order.js';

export interface BoxesOptions extends ResultsOptions {
  readonly tasks: PageTasks;
  readonly dial: Dial;
  readonly overruns: Overruns | undefined;
  readonly host: RenderHost | undefined;
  readonly format: 'html' | 'json';
  readonly signal: Abort;
  readonly onError: (error: Error, component: string, box: string) => void;
}

/** A box that has been started. */
interface Started {
  readonly box: Box;
  readonly found: Found;
  /** Turn in the order of the tree; `NO_TURN` for a box that was resumed. */
  turn: number;
  result: Result | undefined;
  /** Callbacks that wait for the result. */
  waiting: ((result: Result) => void)[] | undefined;
}

export class Boxes {
  readonly results: Results;
  readonly #options: BoxesOptions;
  /** Boxes that were started, by their place on the page. */
  readonly #started: Started[] = [];
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
    const boxes: Box[] = [];
    const waiting: Deferred[] = [];
    sortItems(items, boxes, waiting);
    const remote: Started[] = [];
    const local: Started[] = [];
    for (const box of boxes) {
      const found = this.#options.find(box);
      const started = { box, found, turn: NO_TURN, result: undefined, waiting: undefined };
      (this.#isRemote(found) ? remote : local).push(started);
    }
    this.#scope = createScope();
    for (const each of remote) this.#startBox(each, isResumed);
    for (const each of local) this.#startBox(each, isResumed);
    for (const deferred of waiting) this.#startDeferred(deferred);
  }

  /** Gives up: a box that is not there yet is late from now on. */
  giveUp(): void {
    this.#isLate = true;
    for (const each of this.#started)
      if (each !== undefined && each.result === undefined) this.#settle(each, this.results.late(each.box));
    this.#beLate('late');
  }

  /** The result, where it is there. */
  settled(box: Box): Result | undefined {
    return this.#started[box.place]?.result;
  }

  settledItems(deferred: Deferred): readonly Item[] | undefined {
    return this.#settledItems.get(deferred);
  }

  result(box: Box): Promise<Result> {
    const started = this.#started[box.place];
    if (started === undefined) return Promise.reject(new Error(`box ${box.id} was not started`));
    if (started.result !== undefined) return Promise.resolve(started.result);
    return new Promise((resolve) => {
      (started.waiting ??= []).push(resolve);
    });
  }

  async items(deferred: Deferred): Promise<readonly Item[]> {
    return this.#items.get(deferred) ?? [];
  }

  /** Resolves when it is clear that the box waits for something, rather than for its turn. */
  async waits(box: Box): Promise<unknown> {
    const { turn = NO_TURN } = this.#started[box.place] ?? {};
    return this.#isRemote(this.#options.find(box)) ? undefined : this.#order.passed(turn);
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

  #startBox(started: Started, isResumed: boolean): void {
    const { box } = started;
    if (!isResumed) started.turn = this.#order.take();
    this.#started[box.place] = started;
    const result = this.#isLate ? this.results.late(box) : this.#begin(started, isResumed);
    if (result !== undefined) this.#settle(started, result);
  }

  /** Settles a box. A result of a late box changes nothing any more. */
  #settle(started: Started, result: Result): void {
    if (started.result !== undefined) return;
    started.result = result;
    this.#order.pass(started.turn);
    this.#tell(result);
    const { waiting = [] } = started;
    started.waiting = undefined;
    for (const resolve of waiting) resolve(result);
  }

  /** The result where there is nothing to wait for. */
  #begin(started: Started, isResumed: boolean): Result | undefined {
    const { box, found } = started;
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
      return this.#startTask(started, jsonComponent(found), found, isResumed, undefined);
    if (found.view instanceof RemoteView) {
      void this.#runRemote(started, found.view);
      return undefined;
    }
    const rendering = box.node.rendering ?? found.settings.rendering ?? 'server';
    if (rendering === 'static') return this.#startTask(started, found, found, isResumed, undefined);
    const { dial, overruns } = this.#options;
    if (rendering === 'client' || !dial.server(found.name))
      return this.#leave(started, found, isResumed, this.results.hole(box, 'client', 'client'));
    if (overruns?.isSuspended(referenceOf(found), performance.now()) === true)
      return this.#leave(started, found, isResumed, this.results.hole(box, 'suspended', 'late'));
    return this.#startTask(started, found, found, isResumed, this.results.hydration(box, found));
  }

  /** The browser renders it, of the props that the schema gives. */
  #leave(started: Started, component: Component, isResumed: boolean, hole: Result): Result | undefined {
    if (component.settings.props === undefined) return hole;
    const { box } = started;
    const { id, given } = box;
    const props = this.results.props(box, component);
    const done = (task: TaskResult): void => {
      const { cpu_us, waited_us } = task;
      const result = task.ok
        ? { ...hole, cpu_us, waited_us }
        : this.results.ofTask(box, component, task, undefined, props);
      this.#settle(started, result);
    };
    const job = {
      component: checkedAlone(component),
      props: props ?? given,
      isResumed,
      context: { id, slots: NO_SLOTS },
    };
    this.#options.tasks.start(job, done, this.#scope);
    return undefined;
  }

  /** `component` is rendered in the form that the client wants; `named` is that of the registry. */
  #startTask(
    started: Started,
    component: Component,
    named: Component,
    isResumed: boolean,
    hydration: Hydration | undefined,
  ): undefined {
    const { box } = started;
    const { id, given, slots } = box;
    const props = this.results.props(box, named);
    const context = {
      id,
      slots: slots.size === 0 ? NO_SLOTS : slotsOf([...slots.keys()]),
      isStatic: hydration === undefined,
    };
    const done = (task: TaskResult): void => {
      if (hydration !== undefined) this.#noteOverrun(component, task);
      this.#settle(started, this.results.ofTask(box, named, task, hydration, props));
    };
    this.#options.tasks.start({ component, props: props ?? given, isResumed, context }, done, this.#scope);
  }

  async #runRemote(started: Started, view: RemoteView): Promise<void> {
    const { box } = started;
    const component = this.results.component(box);
    let result: Result;
    try {
      const own = this.results.props(box);
      const made = own?.made() ?? box.given;
      // Boxes that ask at once share a request.
      const props = made instanceof Promise ? await made : made;
      const { html, isCached } = await view.render(props, this.#options.signal.signal);
      result = this.results.rendered(
        box,
        component,
        isCached ? 'cached' : 'rendered',
        html,
        undefined,
        0,
        0,
        own,
      );
    } catch (thrown) {
      const error = toError(thrown);
      result = this.results.hole(box, remoteOutcomeOf(error), 'remote', error);
    }
    this.#settle(started, result);
  }

  #isRemote(found: Found): boolean {
    const isComponent = typeof found === 'object' && !(found instanceof Error);
    return isComponent && this.#options.format === 'html' && found.view instanceof RemoteView;
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

function lateBox({ place, id, node }: Deferred): Box {
  return {
    kind: 'box',
    place,
    id,
    node,
    given: {},
    slots: new Map(),
    failure: new SourceError(id, 'is late for its page', true),
  };
}
