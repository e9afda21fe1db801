/**
 * One component's render, from the queue to its result: its CPU time, its budget, its time limit, its signal. A synchronous component needs
 * no promise or timer: they are made for one that suspends, throws or is late. It must not know when its turn comes.
 */
import { AsyncResource } from 'node:async_hooks';
import { now_us } from '#host/cpu-clock.js';
import type { Slots } from '../adapters/adapter.js';
import type { Component, Props } from '../component.js';
import { Abort } from '../abort.js';
import { startDeadline, type Deadline } from './deadline.js';
import { toError } from '../thrown.js';
import { AbandonedError, InvalidPropsError, LateError } from './errors.js';
import type { HtmlCache } from './html-cache.js';
import type { OwnProps } from './own-props.js';
import type { Html } from './placed-html.js';
import { renderComponent } from './render.js';
import type { Failure } from './result.js';
import type { Account, Runs } from './runs.js';
import { ContextOfTask } from './task-context.js';

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
  readonly workshop: Workshop;
  /** CPU microseconds that all its tasks together may still use. */
  readonly left_us: number;
  /** Called when a task has its result, before the task is told. */
  ended(): void;
}

/**
 * The async context of a call, for the tasks that it starts: their components find what the app keeps in `AsyncLocalStorage`. Results are told
 * in it, and no component runs in it: what one enters is not for others.
 */
export class Scope extends AsyncResource {
  readonly since_us = now_us();

  constructor() {
    super('SluiceTask');
  }
}

export abstract class Task implements Account {
  abstract readonly component: Component;
  /** Props as they came, or those that others ask for as well. */
  abstract readonly props: Props | OwnProps;
  abstract readonly id: string;
  abstract readonly slots: Slots;
  abstract readonly isStatic: boolean;
  /** CPU milliseconds. Undefined: the component's setting, else the queue's. */
  abstract readonly budgetMs: number | undefined;
  /** Data that it waited for has come: it goes before components that have not begun. */
  abstract readonly isResumed: boolean;
  page!: TaskPage;
  scope!: Scope;
  /** CPU time of this component alone, in microseconds. */
  cpu_us = 0;
  /** Time between the start and the render, in microseconds. */
  waited_us = 0;
  /** The HTML came from the component cache. */
  isCached = false;
  /** A part of the HTML has failed, and is the browser's to render. */
  isPartial = false;
  isDone = false;
  #budget_us = Number.POSITIVE_INFINITY;
  #isFollowed = false;
  #deadline: Deadline | undefined = undefined;
  /** Undefined until somebody asks for the signal, or the task has failed. */
  #abort: Abort | undefined = undefined;
  #hasSignal = false;

  /** Takes the HTML, once and in the async context of `scope`. Must not throw. */
  protected abstract rendered(html: Html): void;

  /** Takes the failure in place of HTML, likewise. */
  protected abstract failed(reason: Failure, error: Error): void;

  get isOverBudget(): boolean {
    return this.cpu_us > this.#budget_us;
  }

  get signal(): AbortSignal {
    this.#hasSignal = true;
    return (this.#abort ??= new Abort()).signal;
  }

  get isCut(): boolean {
    return this.#hasSignal && this.#abort?.aborted === true;
  }

  tellPartial(): void {
    this.isPartial = true;
  }

  charge(ran_us: number): void {
    this.cpu_us += ran_us;
    this.page.charge(ran_us);
    // A synchronous render is at its end now. One that goes on by turns is left, but not from here, where its code may run.
    if (this.#deadline !== undefined && this.isOverBudget) setImmediate(() => this.#useUp());
  }

  /** Runs the component, in this macrotask. To be called in `scope`. `at_us`: the time by `now_us`. */
  begin(at_us: number, budget_us: number, timeoutMs: number, isSynchronous: boolean): void {
    this.waited_us = at_us - this.scope.since_us;
    this.#budget_us = budget_us;
    if (budget_us <= 0) {
      this.fail('late', new LateError(`The page's CPU time was used up before component "${this.#name}"`));
      return;
    }
    if (!isSynchronous) this.#follow();
    let html: Html | Promise<Html>;
    try {
      html = new AsyncResource('SluiceTask').runInAsyncScope(runTask, undefined, this);
    } catch (error) {
      this.#failWith(error);
      return;
    }
    if (html instanceof Promise) {
      this.#awaitHtml(html, timeoutMs);
      return;
    }
    if (this.#isFollowed) this.page.workshop.synchronous.add(this.component);
    if (this.#end()) this.#complete(html);
  }

  fail(reason: Failure, error: Error): void {
    if (!this.#end()) return;
    // An abort comes from anywhere: in the middle of a component, whose time the rest is not.
    const tell = (): void => this.scope.runInAsyncScope(() => this.failed(reason, error));
    this.page.ended();
    this.page.workshop.runs.run(undefined, tell, undefined);
    (this.#abort ??= new Abort()).abort(error);
  }

  #useUp(): void {
    const error = `Component "${this.#name}" used up its ${this.#budget_us / 1000} ms of CPU time`;
    this.fail('late', new LateError(error));
  }

  #awaitHtml(html: Promise<Html>, timeoutMs: number): void {
    const { runs, synchronous } = this.page.workshop;
    // One that was synchronous until now is followed from here on: what it ran just after its first part is lost.
    synchronous.delete(this.component);
    if (this.isDone) {
      // It has ended its own page. Nobody waits for the rest.
      html.catch(ignore);
      return;
    }
    this.#follow();
    this.#deadline = startDeadline(timeoutMs, () =>
      this.fail('late', new LateError(`Component "${this.#name}" had no HTML after ${timeoutMs} ms`)),
    );
    html.then(
      // The rest is no part of the component.
      (given) => {
        if (this.#end()) runs.run(undefined, () => this.#complete(given), undefined);
      },
      (error: unknown) => this.#failWith(error),
    );
  }

  #complete(html: Html): void {
    this.page.ended();
    this.rendered(html);
  }

  #failWith(thrown: unknown): void {
    const error = toError(thrown);
    this.fail(error instanceof InvalidPropsError ? 'invalid' : 'error', error);
  }

  #follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    this.page.workshop.runs.follow();
  }

  /** False where it has ended already. */
  #end(): boolean {
    if (this.isDone) return false;
    this.isDone = true;
    this.#deadline?.clear();
    if (this.#isFollowed) this.page.workshop.runs.unfollow();
    return true;
  }

  get #name(): string {
    return this.component.name;
  }
}

// One of each for all tasks: functions of a task would be made, and are called once.

function runTask(task: Task): Html | Promise<Html> {
  return task.page.workshop.runs.run(task, renderTask, task);
}

function renderTask(task: Task): Html | Promise<Html> {
  const { cache, htmlBytesMax } = task.page.workshop;
  return renderComponent(task.component, task.props, new ContextOfTask(task), cache, htmlBytesMax);
}

function ignore(): void {}

export function abandoned(name: string): AbandonedError {
  return new AbandonedError(`component "${name}" is no longer needed`);
}
