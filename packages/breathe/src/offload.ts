/**
 * Work for another thread, for what cannot be cut into items: `await offload(task, args)` computes elsewhere and leaves the main
 * thread to others. Its CPU time counts as that of the request that asked for it.
 *
 * The pool of threads is piscina's. It is made when the first task comes and shrinks to nothing when none do.
 */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { OffloadError, revive, threadFailed } from './offload-errors.js';
import { findHost } from './host.js';
import { endOn, type Leaving } from './offload-end.js';
import { Meter } from './offload-meter.js';
import type { Task } from './offload-thread.js';

export { move } from 'piscina';
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
}

/** Objects that `postMessage` can move. */
type Moved = ArrayBuffer | import('node:worker_threads').MessagePort;

export interface PoolOptions {
  /** Most threads of this process. Default: its part of the CPUs that no worker uses, at least 1. */
  readonly threads_max?: number;
  /** Tasks that may wait for a thread; one more is refused. Default 100. */
  readonly queue_max?: number;
  /** Milliseconds without a task after which a thread ends. Default 10,000. */
  readonly idle_ms?: number;
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
 *   (`SLU_OFFLOAD_LEFT`), a task that cannot be run (`SLU_OFFLOAD_TASK`), a thread that ended (`SLU_OFFLOAD_THREAD`), and
 *   data that cannot be copied (`SLU_OFFLOAD_COPY`); the signal's reason; and errors of the task, with its stack in the thread and the
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
  const work: Task = { ...sourceOf(task), args, meter: new SharedArrayBuffer(Meter.BYTES) };
  const end = endOn(options, options.timeout_ms ?? TIMEOUT_MS);
  try {
    const result = await runMeasured(takePool(), work, end.signal, options.transfer ?? []);
    return revive(result, caller);
  } finally {
    end.forget();
  }
}

/** The task's CPU time is the request's that asks for it, however the task ends. */
async function runMeasured(
  pool: Piscina,
  work: Task,
  signal: AbortSignal,
  moved: readonly Moved[],
): Promise<unknown> {
  const charge = findHost()?.offloads();
  const meter = new Meter(work.meter);
  const charged = (): void => charge?.(meter.used_us());
  // Before piscina ends the thread.
  signal.addEventListener('abort', charged, { once: true });
  const running = pool.run(work, { signal, transferList: [...moved] });
  tasks.add(running);
  try {
    return await running;
  } catch (error) {
    // What the task throws comes as a result.
    throw signal.aborted ? signal.reason : threadFailed(error);
  } finally {
    tasks.delete(running);
    charged();
  }
}

/** Tasks that run or wait. */
const tasks = new Set<Promise<unknown>>();
let shared: Piscina | undefined;
let limits: Required<PoolOptions> | undefined;

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
  limits = { ...limitsOf(), ...options };
  checkAtLeast('threads_max', limits.threads_max, 1);
  checkAtLeast('queue_max', limits.queue_max, 0);
  checkAtLeast('idle_ms', limits.idle_ms, 0);
}

/** Ends all threads once the tasks that they have and those that wait are done. The next task starts new ones. */
export async function closeOffload(): Promise<void> {
  const closing = shared;
  shared = undefined;
  // piscina's own `close()` drops those that wait.
  await Promise.allSettled(tasks);
  await closing?.destroy();
}

function takePool(): Piscina {
  limits ??= limitsOf();
  const { threads_max, queue_max } = limits;
  if (tasks.size >= threads_max + queue_max) {
    throw new OffloadError(
      'SLU_OFFLOAD_QUEUE',
      `${threads_max} offloaded tasks run and ${queue_max} wait, so this one is refused; answer 503, send fewer, or raise threads_max or queue_max with configureOffload()`,
    );
  }
  return (shared ??= makePool(limits));
}

function makePool({ threads_max, idle_ms }: Required<PoolOptions>): Piscina {
  // In these threads nothing serves, so Sluice's preload has nothing to do there.
  const { SLUICE_SOCKET: _socket, SLUICE_CONTROL: _control, ...env } = process.env;
  return new Piscina({
    filename: new URL('offload-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads_max,
    idleTimeout: idle_ms,
    maxQueue: Number.POSITIVE_INFINITY,
    env,
    recordTiming: false,
  });
}

function limitsOf(): Required<PoolOptions> {
  return {
    threads_max: spareThreads(availableParallelism(), workersOf()),
    queue_max: QUEUE_MAX,
    idle_ms: IDLE_MS,
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
      throw new OffloadError('SLU_OFFLOAD_TASK', `${task.href} is no file: URL of a module`);
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
  throw new RangeError(`${name} is ${value}; it has to be a whole number from ${min}`);
}
