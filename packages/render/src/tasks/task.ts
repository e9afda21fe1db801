/**
 * One component's render, from the queue to its result: its CPU time, its budget, its time limit, its signal. It must not
 * know when its turn comes.
 */
import { AsyncResource } from 'node:async_hooks';
import { now_us } from '#host/cpu-clock.js';
import type { Component } from '../component.js';
import { Abort } from '../abort.js';
import { startDeadline, type Deadline } from './deadline.js';
import { toError } from '../thrown.js';
import { AbandonedError, InvalidPropsError, LateError } from './errors.js';
import type { HtmlCache } from './html-cache.js';
import type { Html } from './placed-html.js';
import { renderComponent, type Made, type TaskContext } from './render.js';
import type { Failure, OwnJob, TaskResult } from './result.js';
import type { Account, Runs } from './runs.js';

/** State that tasks of a queue share. */
export interface Workshop {
  readonly runs: Runs;
  readonly cache: HtmlCache;
  readonly htmlBytesMax: number;
  /** Components whose latest render was synchronous: their continuations need no following. */
  readonly synchronous: WeakSet<Component>;
}

/** Facts that a page knows of its tasks. */
export interface TaskPage extends Account {
  /** CPU microseconds that all its tasks together may still use. */
  readonly left_us: number;
  /** Called when a task has its result, before the job is told. */
  ended(): void;
}

/** The async context of a call, for the tasks that it starts: what the app keeps in `AsyncLocalStorage` is what its components find there. */
export class Scope extends AsyncResource {
  readonly since_us = now_us();

  constructor() {
    super('SluiceTask');
  }
}

export class Task implements Account {
  readonly job: OwnJob;
  readonly page: TaskPage;
  readonly scope: Scope;
  readonly #workshop: Workshop;
  readonly #context: ContextWithSignal;
  #budget_us = Number.POSITIVE_INFINITY;
  #waited_us = 0;
  #cpu_us = 0;
  #isFollowed = false;
  #isDone = false;
  #deadline: Deadline | undefined;

  constructor(job: OwnJob, workshop: Workshop, page: TaskPage, scope: Scope) {
    this.job = job;
    this.scope = scope;
    this.page = page;
    this.#workshop = workshop;
    this.#context = new ContextWithSignal(job.context);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  charge(ran_us: number): void {
    this.#cpu_us += ran_us;
    this.page.charge(ran_us);
    // A synchronous render is at its end now. One that goes on by turns is left, but not from here, where its code may run.
    if (this.#deadline !== undefined && this.#cpu_us > this.#budget_us) setImmediate(() => this.#useUp());
  }

  /** Runs the component, in this macrotask and in `scope`. `at_us`: the time by `now_us`. */
  begin(at_us: number, budget_us: number, timeoutMs: number): void {
    this.#waited_us = at_us - this.scope.since_us;
    this.#budget_us = budget_us;
    if (budget_us <= 0) {
      this.fail('late', new LateError(`The page's CPU time was used up before component "${this.#name}"`));
      return;
    }
    if (this.#workshop.synchronous.has(this.job.component)) {
      this.#start(timeoutMs);
      return;
    }
    this.#follow();
    // Its own context within that of the others: it may go on while they run.
    new AsyncResource('SluiceTask').runInAsyncScope(() => this.#start(timeoutMs));
  }

  #start(timeoutMs: number): void {
    const { runs, synchronous } = this.#workshop;
    let html: Made | Promise<Made>;
    try {
      html = runs.run(this, rendered, this);
    } catch (error) {
      this.#failWith(error);
      return;
    }
    if (html instanceof Promise) {
      this.#awaitHtml(html, timeoutMs);
    } else {
      synchronous.add(this.job.component);
      this.#complete(html);
    }
  }

  fail(reason: Failure, error: Error): void {
    if (!this.#end()) return;
    const result = { ok: false, reason, error, cpu_us: this.#cpu_us, waited_us: this.#waited_us } as const;
    // An abort comes from anywhere.
    this.scope.runInAsyncScope(() => this.#tell(result));
    this.#context.abort(error);
  }

  #useUp(): void {
    const error = `Component "${this.#name}" used up its ${this.#budget_us / 1000} ms of CPU time`;
    this.fail('late', new LateError(error));
  }

  /** Renders the component. For `begin` alone, which has its CPU time charged. */
  render(): Made | Promise<Made> {
    const { component, props } = this.job;
    const { cache, htmlBytesMax } = this.#workshop;
    return renderComponent(component, props, this.#context, cache, htmlBytesMax);
  }

  #awaitHtml(html: Promise<Made>, timeoutMs: number): void {
    // One that was synchronous until now is followed from here on: what it ran just after its first part is lost.
    this.#workshop.synchronous.delete(this.job.component);
    this.#follow();
    this.#deadline = startDeadline(timeoutMs, () =>
      this.fail('late', new LateError(`Component "${this.#name}" had no HTML after ${timeoutMs} ms`)),
    );
    html.then(
      (given) => this.#complete(given),
      (error: unknown) => this.#failWith(error),
    );
  }

  #complete({ html, isCached }: Made): void {
    if (!this.#end()) return;
    const cpu_us = this.#cpu_us;
    const isOverBudget = cpu_us > this.#budget_us;
    const { isPartial } = this.#context;
    this.#tell({ ok: true, html, cpu_us, waited_us: this.#waited_us, isCached, isOverBudget, isPartial });
  }

  #tell(result: TaskResult<Html>): void {
    this.page.ended();
    this.job.done(result);
  }

  #failWith(thrown: unknown): void {
    const error = toError(thrown);
    this.fail(error instanceof InvalidPropsError ? 'invalid' : 'error', error);
  }

  #follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    this.#workshop.runs.follow();
  }

  /** False where it has ended already. */
  #end(): boolean {
    if (this.#isDone) return false;
    this.#isDone = true;
    this.#deadline?.clear();
    if (this.#isFollowed) this.#workshop.runs.unfollow();
    return true;
  }

  get #name(): string {
    return this.job.component.name;
  }
}

/** One for all tasks: a function for each would be made, and is called once. */
const rendered = (task: Task): Made | Promise<Made> => task.render();

/** The job's context, with a signal for a component that asks for it. */
class ContextWithSignal implements TaskContext {
  readonly id: string;
  readonly slots: TaskContext['slots'];
  readonly isStatic: boolean;
  isPartial = false;
  /** Undefined until somebody asks for the signal, or the task has failed. */
  #abort: Abort | undefined;
  #isAsked = false;

  constructor({ id, slots, isStatic = false }: OwnJob['context']) {
    this.id = id;
    this.slots = slots;
    this.isStatic = isStatic;
  }

  get signal(): AbortSignal {
    this.#isAsked = true;
    return (this.#abort ??= new Abort()).signal;
  }

  get isCut(): boolean {
    return this.#isAsked && this.#abort?.aborted === true;
  }

  tellPartial(): void {
    this.isPartial = true;
  }

  abort(reason: Error): void {
    (this.#abort ??= new Abort()).abort(reason);
  }
}

export function abandoned(name: string): AbandonedError {
  return new AbandonedError(`Nobody waits for component "${name}" any more`);
}
