/**
 * Work for another thread, for what cannot be cut into items: `await offload(task, args)` computes elsewhere and leaves the main
 * thread to others. Its CPU time counts as that of the request that asked for it.
 *
 * The pool of threads is made when the first task comes and shrinks to nothing when none do.
 */
import { availableParallelism } from 'node:os';
import { OffloadError, revive } from './offload-errors.js';
import { findHost } from './host.js';
import { endOn, type Leaving } from './offload-end.js';
import { Meter } from './offload-meter.js';
import { type Limits, type Moved, Pool } from './offload-pool.js';
import { checkRetry, mayRetry, type Retry } from './offload-retry.js';
import type { Outcome, Task } from './offload-thread.js';

export { move } from './offload-moved.js';
export type { Retry } from './offload-retry.js';
export { OffloadError } from './offload-errors.js';
export type { Leaving } from './offload-end.js';

const QUEUE_MAX = 100;
const IDLE_MS = 10_000;
const TIMEOUT_MS = 60_000;

export interface OffloadOptions {
  /** Ends the task with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Ends the task when this response closes unfinished, because its client has left. Node's `ServerResponse`, as every framework has it. */
  readonly response?: Leaving;
  /** Milliseconds from the call to the result, the wait for a thread included. Default 60,000; Infinity for no limit. */
  readonly timeout_ms?: number;
  /** Buffers and ports of the arguments that are moved to the thread instead of copied. */
  readonly transfer?: readonly Moved[];
  /** Runs the task again after some errors, within `timeout_ms`. Default: never. Not with `transfer`, which leaves nothing to send again. */
  readonly retry?: Retry;
}

export interface PoolOptions {
  /** Most threads of this process. Default: its part of the CPUs that no worker uses, at least 1. */
  readonly threads_max?: number;
  /** Tasks that may wait for a thread; one more is refused. Default 100. */
  readonly queue_max?: number;
  /** Milliseconds without a task after which a thread ends. Default 10,000. */
  readonly idle_ms?: number;
  /** Largest heap of a thread in MiB, from 8; buffers are not in it. A task that needs more ends with `SLU_OFFLOAD_MEMORY`. Default: that of Node.js. */
  readonly heap_mb_max?: number;
  /** Tasks after which a thread is replaced by a fresh one. Default: Infinity, for never. */
  readonly recycle_tasks?: number;
  /** Heap in MiB, garbage included, above which a thread is replaced after its task. Default: Infinity, for never. */
  readonly recycle_heap_mb?: number;
}

/** A function of any parameters, as `Parameters` takes it. */
type AnyFunction = (...args: never[]) => unknown;

/**
 * Runs `task` in another thread and resolves to its result. Arguments and result are copied as by `structuredClone`.
 *
 *     const image = await offload<typeof import('./resize.js').thumbnail>(
 *       new URL('./resize.js#thumbnail', import.meta.url), [bytes, 200], { response: res });
 *
 * @param task A `file:` URL of a module, with the name of an export behind `#` unless it is the default one. Or a function that
 *   uses nothing but its arguments and globals: its source is sent.
 * @throws {OffloadError} for a full queue (`SLU_OFFLOAD_QUEUE`), the time limit (`SLU_OFFLOAD_TIMEOUT`), a client that left
 *   (`SLU_OFFLOAD_LEFT`), a task that cannot be run (`SLU_OFFLOAD_TASK`), a thread that could not be started or ended (`SLU_OFFLOAD_THREAD`), too
 *   much memory (`SLU_OFFLOAD_MEMORY`), and data that cannot be copied (`SLU_OFFLOAD_COPY`); the signal's reason; and errors of the task, with its stack in the thread and the
 * caller's below.
 */
export function offload<A extends readonly unknown[], R>(
  task: (...args: A) => R,
  args: NoInfer<A>,
  options?: OffloadOptions,
): Promise<Awaited<R>>;
export function offload<F extends AnyFunction = (...args: unknown[]) => unknown>(
  task: URL,
  args: Readonly<Parameters<F>>,
  options?: OffloadOptions,
): Promise<Awaited<ReturnType<F>>>;
export async function offload(
  task: AnyFunction | URL,
  args: readonly unknown[],
  options: OffloadOptions = {},
): Promise<unknown> {
  const caller = new Error('offload');
  const source = sourceOf(task);
  const { retry, transfer = [] } = options;
  if (retry !== undefined) checkRetry(retry, transfer.length);
  const pool = takePool();
  const end = endOn(options, options.timeout_ms ?? TIMEOUT_MS);
  const attempts = async (): Promise<unknown> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { result, thrown } = await runMeasured(pool, { ...source, args }, end.signal, transfer);
        if (thrown === undefined) return result;
        throw revive(thrown, caller);
      } catch (error) {
        if (end.signal.aborted || !mayRetry(retry, attempt, error)) throw error;
      }
    }
  };
  const running = attempts();
  tasks.add(running);
  try {
    return await running;
  } finally {
    tasks.delete(running);
    end.forget();
  }
}

/** The task's CPU time is the request's that asks for it, however the task ends. */
async function runMeasured(
  pool: Pool,
  work: Omit<Task, 'meter'>,
  signal: AbortSignal,
  moved: readonly Moved[],
): Promise<Outcome> {
  const charge = findHost()?.offloads();
  const memory = new SharedArrayBuffer(Meter.BYTES);
  const meter = new Meter(memory);
  const charged = (): void => charge?.(meter.used_us());
  // Before the pool ends the thread.
  signal.addEventListener('abort', charged, { once: true });
  try {
    return await pool.run({ ...work, meter: memory }, moved, signal);
  } finally {
    signal.removeEventListener('abort', charged);
    charged();
  }
}

/** Tasks that run or wait. */
const tasks = new Set<Promise<unknown>>();
let shared: Pool | undefined;
let limits: (Limits & { readonly queue_max: number }) | undefined;

/**
 * Bounds of the pool. To be called before the first task.
 * @throws {RangeError} for a number out of range, {@link OffloadError} once there is a pool.
 */
export function configureOffload(options: PoolOptions): void {
  if (shared !== undefined) {
    throw new OffloadError(
      'SLU_OFFLOAD_POOL',
      'configureOffload() came after the first offload(); call it when the app starts',
    );
  }
  const wanted = { ...limitsOf(), ...options };
  checkAtLeast('threads_max', wanted.threads_max, 1);
  checkAtLeast('queue_max', wanted.queue_max, 0);
  checkAtLeast('idle_ms', wanted.idle_ms, 0);
  checkAtLeast('heap_mb_max', wanted.heap_mb_max, 8);
  checkAtLeast('recycle_tasks', wanted.recycle_tasks, 1);
  checkAtLeast('recycle_heap_mb', wanted.recycle_heap_mb, 1);
  limits = wanted;
}

/** Ends all threads once the tasks that they have and those that wait are done. The next task starts new ones. */
export async function closeOffload(): Promise<void> {
  const closing = shared;
  shared = undefined;
  await Promise.allSettled(tasks);
  await closing?.close();
}

function takePool(): Pool {
  limits ??= limitsOf();
  const { threads_max, queue_max } = limits;
  if (tasks.size >= threads_max + queue_max) {
    throw new OffloadError(
      'SLU_OFFLOAD_QUEUE',
      `${threads_max} offloaded tasks run and ${queue_max} wait, so this one is refused; answer 503, send fewer, or raise threads_max or queue_max with configureOffload()`,
    );
  }
  return (shared ??= new Pool(limits));
}

function limitsOf(): Required<PoolOptions> {
  return {
    threads_max: spareThreads(availableParallelism(), workersOf()),
    queue_max: QUEUE_MAX,
    idle_ms: IDLE_MS,
    heap_mb_max: Number.POSITIVE_INFINITY,
    recycle_tasks: Number.POSITIVE_INFINITY,
    recycle_heap_mb: Number.POSITIVE_INFINITY,
  };
}

/** Returns this process's part of the CPUs that main threads leave; without Sluice it is the only one. */
export function spareThreads(cpus: number, workers: number): number {
  return Math.max(1, Math.floor((cpus - workers) / workers));
}

function workersOf(): number {
  const workers = Number(process.env['SLUICE_WORKER_COUNT'] ?? 1);
  return Number.isSafeInteger(workers) && workers > 0 ? workers : 1;
}

function sourceOf(task: AnyFunction | URL): Pick<Task, 'href' | 'name' | 'source'> {
  if (task instanceof URL) {
    if (task.protocol !== 'file:') {
      throw new OffloadError('SLU_OFFLOAD_TASK', `${task.href} is not a file: URL of a module`);
    }
    const file = new URL(task);
    file.hash = '';
    return { href: file.href, name: decodeURIComponent(task.hash.slice(1)) || 'default', source: undefined };
  }
  if (typeof task !== 'function') {
    throw new OffloadError('SLU_OFFLOAD_TASK', 'offload() needs a function or the URL of a module');
  }
  const source = String(task);
  if (/\{\s*\[native code\]\s*\}$/.test(source)) {
    throw new OffloadError(
      'SLU_OFFLOAD_TASK',
      `${task.name || 'this function'} is bound or native and has no source to send; wrap it in a function`,
    );
  }
  return { href: undefined, name: task.name, source };
}

function checkAtLeast(name: string, value: number, min: number): void {
  if (value >= min && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)) return;
  throw new RangeError(`${name} is ${value}; it must be a whole number from ${min}`);
}
