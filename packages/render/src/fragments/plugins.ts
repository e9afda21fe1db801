/**
 * Hooks around batches and jobs, as plugins of Hypernova have them: their names, what they are given, in which order they run.
 * A plugin is any object with some of these methods. It must not know what a render is.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startDeadline, type Deadline } from '../tasks/deadline.js';

/** State that all hooks of a batch share. */
interface Shared {
  /** Undefined for batches in process. */
  readonly request: IncomingMessage | undefined;
  readonly response: ServerResponse | undefined;
  /** Shared by all plugins and jobs of the batch. */
  readonly batchMeta: Record<string, unknown>;
  /** Data of this plugin, for the time of the batch. */
  readonly data: Map<unknown, unknown>;
}

export interface BatchContext extends Shared {
  readonly tokens: readonly string[];
  /** Jobs as the host posted them. */
  readonly jobs: Readonly<Record<string, unknown>>;
}

export interface JobContext extends Shared {
  readonly token: string;
  readonly name: string;
  readonly props: unknown;
  readonly metadata: unknown;
  /** Goes to the host as `meta`. */
  readonly returnMeta: Record<string, unknown>;
  readonly statusCode: number;
  /** Null before the render. */
  readonly html: string | null;
  /** Milliseconds of the job's own CPU time; null before the render. */
  readonly duration: number | null;
}

type Hook<Context> = (context: Context) => unknown;

/**
 * A hook that throws, or whose promise rejects, fails its job; `batchStart` and `batchEnd` fail the batch, and so does an
 * `onError` that throws itself.
 */
export interface Plugin {
  /** Called once, before anything is rendered. */
  initialize?(config: unknown): unknown;
  batchStart?: Hook<BatchContext>;
  jobStart?: Hook<JobContext>;
  beforeRender?: Hook<JobContext>;
  afterRender?: Hook<JobContext>;
  jobEnd?: Hook<JobContext>;
  batchEnd?: Hook<BatchContext>;
  /** Called for an error of a job, or of the batch. */
  onError?(context: BatchContext | JobContext, error: unknown): unknown;
  /** Called once, when the server stops; with the error and the request that stopped it, if one did. */
  shutDown?(config: unknown, error?: unknown, request?: unknown): unknown;
}

export type JobHook = 'jobStart' | 'beforeRender' | 'afterRender' | 'jobEnd';
export type BatchHook = 'batchStart' | 'batchEnd';

/**
 * Calls a hook of all plugins, in their order, and waits for the promises that they return, `timeoutMs` at most. Slower
 * hooks continue by themselves. Rejects with what the first of them threw.
 */
export async function runHooks(
  plugins: readonly Plugin[],
  call: (plugin: Plugin) => unknown,
  timeoutMs: number,
): Promise<void> {
  const promises: PromiseLike<unknown>[] = [];
  try {
    for (const plugin of plugins) {
      const returned = call(plugin);
      if (isPromise(returned)) promises.push(returned);
    }
  } catch (error) {
    // Hooks that have begun end by themselves; one that rejects then must not end the process.
    void Promise.allSettled(promises);
    throw error;
  }
  if (promises.length === 0) return;
  let deadline: Deadline | undefined;
  const timeout = new Promise<void>((resolve) => {
    deadline = startDeadline(timeoutMs, resolve);
  });
  try {
    await Promise.race([Promise.all(promises), timeout]);
  } finally {
    deadline?.clear();
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
