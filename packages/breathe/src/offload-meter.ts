/**
 * CPU time of an offloaded task, in memory that both threads see, so that it is known of a task that was ended as well. The
 * thread writes, the caller reads. It must not know tasks.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };

/** Places in the memory; times in microseconds. */
const BEGAN_US = 0;
const USED_US = 1;
const THREAD = 2;
const STATE = 3;
/** Value of `STATE` for a task that has begun. */
const BEGUN = 1;
const ENDED = 2;

export class Meter {
  static readonly BYTES = 32;
  readonly #values: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#values = new Float64Array(memory);
  }

  /** Marks the begin of the task. Called in the thread. */
  begin(): void {
    this.#values[BEGAN_US] = threadUs();
    this.#values[THREAD] = threadNumber();
    this.#values[STATE] = BEGUN;
  }

  /** Marks the end of the task. Called in the thread. */
  end(): void {
    this.#values[USED_US] = threadUs() - this.#value(BEGAN_US);
    this.#values[STATE] = ENDED;
  }

  /** Returns microseconds that the task has used so far; 0 before it has begun. Called by the caller of the task. */
  used_us(): number {
    if (this.#value(STATE) === ENDED) return this.#value(USED_US);
    if (this.#value(STATE) !== BEGUN) return 0;
    const now_us = usOf(`/proc/self/task/${this.#value(THREAD)}/schedstat`);
    return now_us === undefined ? 0 : Math.max(0, now_us - this.#value(BEGAN_US));
  }

  #value(place: number): number {
    return this.#values[place] ?? 0;
  }
}

/**
 * Returns the CPU time of the thread. If neither Node nor the kernel tells, that is the time for which its event loop
 * was busy.
 */
function threadUs(): number {
  if (threadCpuUsage !== undefined) {
    const { user, system } = threadCpuUsage.call(process);
    return user + system;
  }
  return usOf('/proc/thread-self/schedstat') ?? performance.eventLoopUtilization().active * 1000;
}

/**
 * Reads a thread's `schedstat`, which begins with its CPU time in nanoseconds. The kernel makes that exact when it is asked for the
 * process's.
 */
function usOf(path: string): number | undefined {
  process.cpuUsage();
  try {
    return Math.round(Number.parseInt(readFileSync(path, 'latin1'), 10) / 1000);
  } catch {
    return undefined; // Not on Linux, or the thread is gone.
  }
}

/** The kernel's number of this thread; 0 where there is none. */
function threadNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}
