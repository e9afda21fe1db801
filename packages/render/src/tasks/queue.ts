/**
 * Renders components one by one. Those of a page that are known to be synchronous share a macrotask for up to 1 ms; every other
 * has its own. Between two macrotasks timers fire and sockets are read, so that a reply that has come is seen before the next
 * component begins. It must not know registries or what a page looks like.
 */
import { reachedByPurges } from '#host/caches.js';
import { CpuClock, now_us } from '#host/cpu-clock.js';
import type { Abortable } from '../abort.js';
import { soonestDue_us } from './deadline.js';
import { HtmlCache } from './html-cache.js';
import type { Job, TaskResult } from './result.js';
import { JobTask } from './job-task.js';
import { Line, Rounds } from './rounds.js';
import { Runs } from './runs.js';
import { abandoned, Scope, type Task, type Workshop } from './task.js';

const BUDGET_MS = 50;
const TIMEOUT_MS = 1_000;
const HTML_BYTES_MAX = 2 * 1024 * 1024;
const CACHE_BYTES_MAX = 32 * 1024 * 1024;
/** No component begins later than this after the first of its macrotask. A turn of the event loop costs what a small component does. */
const SLICE_US = 1_000;

/** The kernel is asked for the CPU time at most once in so long, because its answer takes 4 µs and small components take 20. */
const ASK_EVERY_US = 250;

export interface QueueOptions {
  /** CPU milliseconds of a component that names no budget; default 50. */
  readonly budgetMs?: number;
  /** Milliseconds from start to HTML of an asynchronous component that names no limit; default 1,000. */
  readonly timeoutMs?: number;
  /** Bytes of HTML that one component may give; default 2 MiB. */
  readonly htmlBytesMax?: number;
  /** Bytes of the component cache; default 32 MiB. */
  readonly cacheBytesMax?: number;
}

export interface PageOptions {
  /** CPU milliseconds of all its components together; default: no limit. */
  readonly budgetMs?: number | undefined;
  /** Aborted when the client has left. */
  readonly signal?: Abortable | undefined;
}

/** The tasks of one page: they run in the order of their `run`, in turns with those of other pages. */
export interface PageTasks {
  run(job: Job): Promise<TaskResult>;
  /**
   * The same without a promise: the task is told, perhaps at once, in the async context of `scope`, which tasks that are started together
   * share.
   */
  start(task: Task, scope: Scope): void;
  /** CPU microseconds of its components so far. */
  readonly cpu_us: number;
}

export interface TaskQueue {
  /** A page, or whatever shares a budget: a batch of fragments. It needs no closing. */
  page(options?: PageOptions): PageTasks;
  /** One component that belongs to no page. */
  run(job: Job, options?: PageOptions): Promise<TaskResult>;
}

export function createTaskQueue(options: QueueOptions = {}): TaskQueue {
  return new Queue(options);
}

const setTurn = (turn: () => void): unknown => setImmediate(turn);

class Queue implements TaskQueue {
  readonly #workshop: Workshop;
  readonly #budgetMs: number;
  readonly #timeoutMs: number;
  readonly #resumed = new Rounds<Task>();
  readonly #new = new Rounds<Task>();
  #hasTurn = false;
  /** True once the queue has let others pass before this task: a page that asks for turn after turn holds nobody up. */
  #hasLetPass = false;

  constructor(options: QueueOptions) {
    this.#budgetMs = options.budgetMs ?? BUDGET_MS;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#workshop = {
      runs: new Runs(new CpuClock(true, ASK_EVERY_US)),
      cache: reachedByPurges(new HtmlCache(options.cacheBytesMax ?? CACHE_BYTES_MAX)),
      htmlBytesMax: options.htmlBytesMax ?? HTML_BYTES_MAX,
      synchronous: new WeakSet(),
    };
  }

  page(options: PageOptions = {}): PageTasks {
    return new Page(options, this.#workshop, (page, task) => {
      if (task.isResumed) this.#resumed.push(page.resumed, task);
      else this.#new.push(page.new, task);
      this.#askForTurn();
    });
  }

  run(job: Job, options: PageOptions = {}): Promise<TaskResult> {
    return this.page(options).run(job);
  }

  /** Asks for a turn. Between two of these, Node fires timers and reads sockets. */
  #askForTurn(): void {
    if (this.#hasTurn) return;
    this.#hasTurn = true;
    // Not within the run of a component that renders others: the turns after it are not its own.
    this.#workshop.runs.run(undefined, setTurn, this.#turn);
  }

  /** Our turn was asked for before the sockets were read, so that components whose replies have come stand behind it. They go first. */
  readonly #turn = (): void => {
    this.#hasTurn = false;
    if (!this.#hasLetPass && this.#workshop.runs.takeImmediate()) {
      this.#hasLetPass = true;
      this.#askForTurn();
      return;
    }
    this.#hasLetPass = false;
    const rounds = this.#resumed.isEmpty ? this.#new : this.#resumed;
    const task = this.#first(rounds);
    if (task === undefined) return;
    this.#askForTurn();
    this.#runSlice(task, rounds);
  };

  /** The task, and those after it in its page that may share its macrotask. */
  #runSlice(first: Task, rounds: Rounds<Task>): void {
    // Near a time limit every component has its own turn, so that a reply is seen as soon as it is there.
    const end_us = Math.min(now_us() + SLICE_US, soonestDue_us());
    let next: Task | undefined = first;
    while (next !== undefined) {
      const task: Task = next;
      next = task.scope.runInAsyncScope(() => this.#runAlike(task, rounds, end_us));
    }
  }

  /** Runs tasks in the scope of the first. The next one where that has another scope; undefined at the end of the slice. */
  #runAlike(first: Task, rounds: Rounds<Task>, end_us: number): Task | undefined {
    const { scope } = first;
    let task: Task | undefined = first;
    let at_us = now_us();
    while (task !== undefined && task.scope === scope) {
      const mayShare = this.#mayShare(task);
      this.#begin(task, at_us, mayShare);
      at_us = now_us();
      if (!mayShare || at_us >= end_us) return undefined;
      task = this.#more(task.page as Page, rounds);
    }
    return task;
  }

  #begin(task: Task, at_us: number, isSynchronous: boolean): void {
    const { settings } = task.component;
    const budgetMs = task.budgetMs ?? settings.budgetMs ?? this.#budgetMs;
    const budget_us = Math.min(budgetMs * 1000, task.page.left_us);
    task.begin(at_us, budget_us, settings.timeoutMs ?? this.#timeoutMs, isSynchronous);
  }

  /**
   * Whether the task may share the turn. Work that a waiting component has started gets its turn before the next
   * component.
   */
  #mayShare({ component }: Task): boolean {
    return this.#workshop.synchronous.has(component);
  }

  /** Returns the first task. One that has ended in the queue, by an abort, costs no turn. */
  #first(rounds: Rounds<Task>): Task | undefined {
    for (;;) {
      const task = rounds.take() ?? this.#new.take();
      if (task === undefined || !task.isDone) return task;
    }
  }

  /** The next task of a page that has the turn, if it may share the macrotask and nothing that has resumed is to go before it. */
  #more(page: Page, rounds: Rounds<Task>): Task | undefined {
    if (rounds === this.#new && !this.#resumed.isEmpty) return undefined;
    const line = rounds === this.#new ? page.new : page.resumed;
    for (;;) {
      const task = line.peek();
      if (task === undefined || !(task.isDone || this.#mayShare(task))) return undefined;
      rounds.shift(line);
      if (!task.isDone) return task;
    }
  }
}

class Page implements PageTasks {
  /** Tasks that have not begun: those whose data has come, and the others. */
  readonly resumed = new Line<Task>();
  readonly new = new Line<Task>();
  readonly #budget_us: number;
  readonly #signal: Abortable | undefined;
  readonly workshop: Workshop;
  readonly #push: (page: Page, task: Task) => void;
  /** Tasks since there was none without a result. */
  #tasks: Task[] = [];
  /** Number of them that have no result yet. */
  #open = 0;
  #cpu_us = 0;

  constructor(options: PageOptions, workshop: Workshop, push: (page: Page, task: Task) => void) {
    this.#budget_us = (options.budgetMs ?? Number.POSITIVE_INFINITY) * 1000;
    this.#signal = options.signal;
    this.workshop = workshop;
    this.#push = push;
  }

  get cpu_us(): number {
    return this.#cpu_us;
  }

  get left_us(): number {
    return this.#budget_us - this.#cpu_us;
  }

  run(job: Job): Promise<TaskResult> {
    return new Promise((resolve) => {
      this.start(new JobTask(job, resolve), new Scope());
    });
  }

  start(task: Task, scope: Scope): void {
    task.page = this;
    task.scope = scope;
    this.#add(task);
    if (this.#signal?.aborted === true) task.fail('aborted', abandoned(task.component.name));
    else this.#push(this, task);
  }

  charge(ran_us: number): void {
    this.#cpu_us += ran_us;
  }

  #add(task: Task): void {
    if (this.#open === 0) this.#signal?.addEventListener('abort', this.#abort);
    this.#open += 1;
    this.#tasks.push(task);
  }

  ended(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#tasks = [];
  }

  readonly #abort = (): void => {
    for (const task of this.#tasks) task.fail('aborted', abandoned(task.component.name));
  };
}
