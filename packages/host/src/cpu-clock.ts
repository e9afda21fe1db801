/**
 * The CPU time used so far. The kernel is asked at most once in some 100 µs, because in a process with threads its answer takes
 * 4 µs, and requests begin and end together. In between, the main thread is taken to run for as long as its event loop was not
 * idle. The next answer puts right what was wrong in that. It must not know of requests or components.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Taken before the app can replace it, by fake timers for example. */
export const now_ms = performance.now.bind(performance);

const { nodeTiming } = performance;

/** Microseconds for which the event loop was not idle: its own CPU time, and what others took from it meanwhile. */
export function active_us(at_ms: number): number {
  return (at_ms - nodeTiming.idleTime) * 1000;
}

/** Microseconds of the wall clock, which never go back. */
export function now_us(): number {
  return now_ms() * 1000;
}

const ASK_EVERY_US = 100;
/** Interval with `hasMain`, in active time of the event loop, because the clock is then read with each callback. */
const ASK_EVERY_ACTIVE_US = 400;
// Taken before the app can replace them.
const readProcess = process.cpuUsage.bind(process);
/** CPU time of the main thread, which Node 20 does not tell. */
const { threadCpuUsage: readThread } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };

/** Microseconds, which never go back. */
export class CpuClock {
  readonly #hasMain: boolean;
  readonly #askEvery_us: number;
  /** The kernel's latest answer, and for how long the event loop had been active by then. */
  #askedAt_us = Number.NEGATIVE_INFINITY;
  #askedActive_us = 0;
  #process_us = 0;
  /** Threads that work for the app. */
  #threads = 0;
  #kernels_us: number | undefined;
  #main_us = 0;
  /** CPU time of all threads: also those of the garbage collector and the compiler. */
  process_us = 0;
  main_us = 0;

  /**
   * Creates the clock; without `hasMain`, `main_us` stays 0. `askEvery_us`: microseconds of active time of the event loop with
   * `hasMain`, otherwise of the wall clock.
   */
  constructor(hasMain = false, askEvery_us = hasMain ? ASK_EVERY_ACTIVE_US : ASK_EVERY_US) {
    this.#hasMain = hasMain;
    this.#askEvery_us = askEvery_us;
  }

  /** Other threads work for the app. */
  get hasThreads(): boolean {
    return this.#threads > 0;
  }

  /** One thread more, or less, that works for the app. */
  addThread(more: 1 | -1): void {
    if (!this.hasThreads) this.#kernels_us = readKernels();
    this.#threads += more;
  }

  read(): void {
    const at_ms = now_ms();
    const ran_us = this.#ranSince(at_ms);
    this.process_us = Math.max(this.process_us, this.#process_us + ran_us);
    if (this.#hasMain) this.main_us = Math.max(this.main_us, this.#main_us + ran_us);
  }

  /** Time for which the main thread may have run since the kernel's answer. Asks again if that answer is old. */
  #ranSince(at_ms: number): number {
    const ran_us = active_us(at_ms) - this.#askedActive_us;
    const isFresh = this.#hasMain
      ? ran_us < this.#askEvery_us && this.#askedAt_us > 0
      : at_ms * 1000 - this.#askedAt_us < this.#askEvery_us;
    if (isFresh) return Math.max(ran_us, 0);
    this.#ask(at_ms * 1000);
    return 0;
  }

  /** CPU time of the process when the event loop had been active for so long, without a question to the kernel. */
  guess(at_active_us: number): number {
    return this.#process_us + Math.max(at_active_us - this.#askedActive_us, 0);
  }

  /**
   * Asks for the process's time first. Linux reports a thread's CPU time as of its clock's last tick, up to 4 ms ago, unless
   * the process has asked for its own time immediately before. On Node 20, the main thread's time is that of the process,
   * limited to the event loop's active time; the rest is of V8's helper threads.
   */
  #ask(at_us: number): void {
    const [process_us, activeNow_us] = [total(readProcess()), active_us(at_us / 1000)];
    if (this.#hasMain) {
      if (readThread !== undefined) this.#main_us = total(readThread.call(process));
      else
        this.#main_us += this.#mainNews_us(
          process_us - this.#process_us,
          activeNow_us - this.#askedActive_us,
        );
    }
    this.#process_us = process_us;
    this.#askedAt_us = at_us;
    this.#askedActive_us = activeNow_us;
  }

  #mainNews_us(process_us: number, passed_us: number): number {
    const kernels_us = this.hasThreads ? readKernels() : undefined;
    if (kernels_us === undefined || this.#kernels_us === undefined) return Math.min(process_us, passed_us);
    const news_us = kernels_us - this.#kernels_us;
    this.#kernels_us = kernels_us;
    return news_us;
  }
}

/**
 * CPU microseconds of the main thread by the kernel's word, on Linux. Asked only where Node does not tell and other threads work
 * for the app, as it takes three times as long.
 */
function readKernels(): number | undefined {
  if (readThread !== undefined || !isMainThread) return undefined;
  try {
    return Math.round(
      Number.parseInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1'), 10) / 1000,
    );
  } catch {
    return undefined; // Not on Linux.
  }
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
