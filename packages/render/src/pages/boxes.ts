/**
 * Fates of boxes: HTML by a task of its own or of a remote service, or a hole that the browser renders. It must not know how
 * a page is put together or sent.
 */
import type { Slots } from '../adapters/adapter.js';
import { NO_SLOTS, slotsOf } from '../adapters/slot.js';
import type { Component, Hydration, Props } from '../component.js';
import type { Abort } from '../abort.js';
import { referenceOf } from '../css/order.js';
import type { Dial } from '../dial/dial.js';
import type { RenderHost } from '../host.js';
import { RemoteView } from '../remote/remote.js';
import type { OwnProps } from '../tasks/own-props.js';
import type { PageTasks } from '../tasks/queue.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { Html } from '../tasks/placed-html.js';
import type { OwnJob, TaskContext, TaskResult } from '../tasks/result.js';
import { Scope } from '../tasks/task.js';
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

/** A box that has been started, and the job of its task. */
class Started implements OwnJob, TaskContext {
  readonly box: Box;
  readonly found: Found;
  readonly isResumed: boolean;
  readonly #boxes: Boxes;
  /** Turn in the order of the tree; `NO_TURN` for a box that was resumed. */
  turn = NO_TURN;
  result: Result | undefined = undefined;
  /** Callbacks that wait for the result. */
  waiting: ((result: Result) => void)[] | undefined = undefined;
  component!: Component;
  /** The component as the registry names it: `component` may have another form. */
  named!: Component;
  own: OwnProps | undefined = undefined;
  hydration: Hydration | undefined = undefined;
  /** Result of a box that the browser renders, if its props are what its component takes. */
  hole: Result | undefined = undefined;

  constructor(boxes: Boxes, box: Box, found: Found, isResumed: boolean) {
    this.#boxes = boxes;
    this.box = box;
    this.found = found;
    this.isResumed = isResumed;
  }

  get props(): Props | OwnProps {
    return this.own ?? this.box.given;
  }

  get context(): TaskContext {
    return this;
  }

  get id(): string {
    return this.box.id;
  }

  get slots(): Slots {
    const { slots } = this.box;
    return slots.size === 0 || this.hole !== undefined ? NO_SLOTS : slotsOf([...slots.keys()]);
  }

  get isStatic(): boolean {
    return this.hydration === undefined && this.hole === undefined;
  }

  done(result: TaskResult<Html>): void {
    this.#boxes.done(this, result);
  }
}

export class Boxes {
  readonly results: Results;
  /** Some box so far has HTML of which a part has failed. */
  isPartial = false;
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
    const remote: Started[] = [];
    const local: Started[] = [];
    for (const box of boxes) {
      const found = this.#options.find(box);
      const started = new Started(this, box, found, isResumed);
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

  #startBox(started: Started): void {
    const { box } = started;
    if (!started.isResumed) started.turn = this.#order.take();
    this.#started[box.place] = started;
    const result = this.#isLate ? this.results.late(box) : this.#begin(started);
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
  #begin(started: Started): Result | undefined {
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
  #leave(started: Started, named: Component, hole: Result): Result | undefined {
    if (named.settings.props === undefined) return hole;
    started.hole = hole;
    return this.#startTask(started, checkedAlone(named), named);
  }

  /** `component` is rendered in the form that the client wants; `named` is that of the registry. */
  #startTask(started: Started, component: Component, named: Component, hydration?: Hydration): undefined {
    started.component = component;
    started.named = named;
    started.own = this.results.props(started.box, named);
    started.hydration = hydration;
    this.#options.tasks.start(started, this.#scope);
  }

  /** Takes the result of a box's task. */
  done(started: Started, task: TaskResult<Html>): void {
    const { box, component, named, own, hydration, hole } = started;
    if (hydration !== undefined) this.#noteOverrun(component, task);
    if (task.ok && task.isPartial) this.isPartial = true;
    const { cpu_us, waited_us } = task;
    const result =
      hole !== undefined && task.ok
        ? { ...hole, cpu_us, waited_us }
        : this.results.ofTask(box, named, task, hydration, own);
    this.#settle(started, result);
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

  #noteOverrun(component: Component, task: TaskResult<Html>): void {
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
