/**
 * Renders components one by one, each in a macrotask of its own: between two of them timers fire and sockets are read, so
 * that a reply that has come is seen before the next component begins. It must not know registries or what a page looks like.
 */
import type { Job, TaskResult } from './result.js';

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
  readonly signal?: AbortSignal | undefined;
}

/** The tasks of one page: they run in the order of their `run`, in turns with those of other pages. */
export interface PageTasks {
  run(job: Job): Promise<TaskResult>;
  /** CPU microseconds of its components so far. */
  readonly cpu_us: number;
}

export interface TaskQueue {
  /** A page, or whatever shares a budget: a batch of fragments. It needs no closing. */
  page(options?: PageOptions): PageTasks;
  /** One component that belongs to no page. */
  run(job: Job, options?: PageOptions): Promise<TaskResult>;
}
