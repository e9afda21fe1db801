/**
 * The CPU time that the main thread has used. The kernel is asked at most once in 250 µs, because its answer takes 4 µs and
 * small components take 20. In between, the main thread is taken to run, as the reader of the clock does. The next answer
 * puts right what was wrong in that. It must not know of components.
 */

const ASK_EVERY_US = 250;
// Taken before the app can replace them, by fake timers for example.
const now_ms = performance.now.bind(performance);
const readProcess = process.cpuUsage.bind(process);
const { threadCpuUsage: readThread } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };

export class CpuClock {
  /** The kernel's latest answer. */
  #askedAt_us = Number.NEGATIVE_INFINITY;
  #process_us = 0;
  #main_us = 0;
  #latest_us = 0;

  /** Microseconds, which never go back. */
  read_us(): number {
    const at_us = now_ms() * 1000;
    const since_us = at_us - this.#askedAt_us;
    if (since_us < ASK_EVERY_US) {
      this.#latest_us = Math.max(this.#latest_us, this.#main_us + since_us);
    } else {
      this.#ask(at_us);
      this.#latest_us = Math.max(this.#latest_us, this.#main_us);
    }
    return this.#latest_us;
  }

  /**
   * Asks for the CPU time. Linux is up to 4 ms late with that of a thread, unless the process was asked before. Node
   * before 23.9 does not tell it: there, the main thread used what the process used, but no more than passed. The rest is
   * of V8's helper threads, which collect garbage and compile.
   */
  #ask(at_us: number): void {
    const process_us = total_us(readProcess());
    if (readThread === undefined) {
      this.#main_us += Math.max(0, Math.min(process_us - this.#process_us, at_us - this.#askedAt_us));
    } else {
      this.#main_us = total_us(readThread.call(process));
    }
    this.#process_us = process_us;
    this.#askedAt_us = at_us;
  }
}

/** Microseconds of the wall clock, which never go back. */
export function now_us(): number {
  return now_ms() * 1000;
}

function total_us({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
