/**
 * Fates of boxes: HTML by a task of its own or of a remote service, or a hole that the browser renders. It must not know how
 * a page is put together or sent.
 */
import type { Component, Hydration } from '../component.js';
import type { Abort } from '../abort.js';
import { referenceOf } from '../css/order.js';
import type { Dial } from '../dial/dial.js';
import type { RenderHost } from '../host.js';
import { RemoteView } from '../remote/remote.js';
import type { PageTasks } from '../tasks/queue.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { Html } from '../tasks/placed-html.js';
import type { Failure } from '../tasks/result.js';
import { Scope } from '../tasks/task.js';
import { BoxTask, type BoxTaskOwner, type Waiter } from './box-task.js';
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

export class Boxes implements BoxTaskOwner {
  readonly results: Results;
  /** Some box so far has HTML of which a part has failed. */
  isPartial = false;
  readonly #options: BoxesOptions;
  /** Boxes that were started, by their place on the page. */
  readonly #started: BoxTask[] = [];
  readonly #items = new Map<Deferred, Promise<readonly Item[]>>();
  readonly #settledItems = new Map<Deferred, readonly Item[]>();
  readonly #order = new Order();
  #beLate: (late: 'late') => void = () => undefined;
  readonly #late: Promise<'late'>;
  #isLate = false;
  /** The async context of those that are started now. */
  #scope = new Scope();

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
    const remote: BoxTask[] = [];
    const local: BoxTask[] = [];
    for (const box of boxes) {
      const found = this.#options.find(box);
      const started = new BoxTask(this, box, found, isResumed);
      (this.#isRemote(found) ? remote : local).push(started);
    }
    this.#scope = new Scope();
    for (const each of remote) this.#startBox(each);
    for (const each of local) this.#startBox(each);
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
    if (started === undefined) return Promise.reject(notStarted(box));
    if (started.result !== undefined) return Promise.resolve(started.result);
    return new Promise((resolve) => {
      this.await(box, { settled: resolve });
    });
  }

  /** Tells the waiter when the box is there, which it is not yet. Throws for a box that was not started. */
  await(box: Box, waiter: Waiter): void {
    const started = this.#started[box.place];
    if (started === undefined) throw notStarted(box);
    (started.waiting ??= []).push(waiter);
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

  #startBox(started: BoxTask): void {
    const { box } = started;
    if (!started.isResumed) started.turn = this.#order.take();
    this.#started[box.place] = started;
    const result = this.#isLate ? this.results.late(box) : this.#begin(started);
    if (result !== undefined) this.#settle(started, result);
  }

  /** Settles a box. A result of a late box changes nothing any more. */
  #settle(started: BoxTask, result: Result): void {
    if (started.result !== undefined) return;
    started.result = result;
    this.#order.pass(started.turn);
    this.#tell(result);
    const { waiting = [] } = started;
    started.waiting = undefined;
    for (const waiter of waiting) waiter.settled(result);
  }

  /** The result where there is nothing to wait for. */
  #begin(started: BoxTask): Result | undefined {
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
    if (this.#options.format === 'json') return this.#startTask(started, jsonComponent(found), found);
    if (found.view instanceof RemoteView) {
      void this.#runRemote(started, found.view);
      return undefined;
    }
    const rendering = box.node.rendering ?? found.settings.rendering ?? 'server';
    if (rendering === 'static') return this.#startTask(started, found, found);
    const { dial, overruns } = this.#options;
    if (rendering === 'client' || !dial.server(found.name))
      return this.#leave(started, found, this.results.hole(box, 'client', 'client'));
    if (overruns?.isSuspended(referenceOf(found), performance.now()) === true)
      return this.#leave(started, found, this.results.hole(box, 'suspended', 'late'));
    return this.#startTask(started, found, found, this.results.hydration(box, found));
  }

  /** The browser renders it, of the props that the schema gives. */
  #leave(started: BoxTask, named: Component, hole: Result): Result | undefined {
    if (named.settings.props === undefined) return hole;
    started.hole = hole;
    return this.#startTask(started, checkedAlone(named), named);
  }

  #startTask(started: BoxTask, component: Component, named: Component, hydration?: Hydration): undefined {
    started.prepare(component, named, this.results.props(started.box, named), hydration);
    this.#options.tasks.start(started, this.#scope);
  }

  rendered(started: BoxTask, html: Html): void {
    const { hole, cpu_us, waited_us } = started;
    if (started.hydration !== undefined && !started.isCached)
      this.#noteOverrun(started.component, started.isOverBudget);
    if (started.isPartial) this.isPartial = true;
    this.#settle(
      started,
      hole === undefined ? this.results.ofTask(started, html) : { ...hole, cpu_us, waited_us },
    );
  }

  failed(started: BoxTask, reason: Failure, error: Error): void {
    if (started.hydration !== undefined) this.#noteOverrun(started.component, reason === 'late');
    this.#settle(started, this.results.ofFailure(started, reason, error));
  }

  async #runRemote(started: BoxTask, view: RemoteView): Promise<void> {
    const { box } = started;
    const component = this.results.component(box);
    let result: Result;
    try {
      const own = this.results.props(box);
      const made = own?.made() ?? box.given;
      // Boxes that ask at once share a request.
      const props = made instanceof Promise ? await made : made;
      const { html, isCached, isPartial } = await view.render(props, this.#options.signal.signal);
      if (isPartial) this.isPartial = true;
      result = this.results.rendered(
        box,
        component,
        isCached ? 'cached' : 'rendered',
        html,
        undefined,
        0,
        0,
        own,
        isPartial,
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

  #noteOverrun(component: Component, isOver: boolean): void {
    this.#options.overruns?.note(referenceOf(component), isOver, performance.now());
  }

  #tell({ box, component, outcome, cpu_us, error }: Result): void {
    const { host, dial, onError } = this.#options;
    const name = component?.name ?? box.node.component;
    host?.rendered({ component: name, outcome, cpu_us, setting: dial.setting });
    if (error !== undefined && outcome !== 'aborted') onError(error, name, box.id);
  }
}

function notStarted({ id }: Box): Error {
  return new Error(`Box ${id} was not started`);
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
