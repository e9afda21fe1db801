/**
 * Pauses of the garbage collector, apart from what requests do: they hit the request that runs, whose garbage it may not
 * be. Node tells of them a turn of the loop later, so the latest runs are kept to find out whose time it was.
 */
import { performance, PerformanceObserver } from 'node:perf_hooks';
import type { Account } from './own-cpu-runs.js';

/** A power of two; more than begin in a turn or two. A pause within an older run is counted and stays charged. */
const RUNS_KEPT = 1024;

// Taken before the app can replace it, by fake timers for example.
const now_ms = performance.now.bind(performance);

export class Collections {
  /**
   * Observer of its own, because `RunWatch` asks for pauses within a run: what the run has spent is known only after
   * it.
   */
  readonly #observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) this.#take(startTime, duration * 1000);
  });
  readonly #starts_ms = new Float64Array(RUNS_KEPT);
  readonly #spent_us = new Float64Array(RUNS_KEPT);
  readonly #accounts: (Account | undefined)[] = Array.from({ length: RUNS_KEPT });
  #runs_total = 0;
  #taken_us = 0;
  pauses_us_total = 0;

  start(): void {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.#observer.disconnect();
    this.#accounts.fill(undefined);
    this.#runs_total = 0;
  }

  /** A run begins, of this request if of any. */
  begin(account: Account | undefined): void {
    const at = this.#runs_total & (RUNS_KEPT - 1);
    this.#starts_ms[at] = now_ms();
    this.#spent_us[at] = 0;
    this.#accounts[at] = account;
    this.#runs_total += 1;
  }

  /** The latest run has used so much CPU time more. */
  spend(us: number): void {
    const at = (this.#runs_total - 1) & (RUNS_KEPT - 1);
    this.#spent_us[at] = (this.#spent_us[at] ?? 0) + us;
  }

  /** Microseconds that were taken off accounts since this was last asked. */
  news_us(): number {
    const taken_us = this.#taken_us;
    this.#taken_us = 0;
    return taken_us;
  }

  #take(start_ms: number, pause_us: number): void {
    this.pauses_us_total += pause_us;
    const oldest = Math.max(0, this.#runs_total - RUNS_KEPT);
    for (let run = this.#runs_total - 1; run >= oldest; run -= 1) {
      const at = run & (RUNS_KEPT - 1);
      if ((this.#starts_ms[at] ?? 0) > start_ms) continue;
      // On a busy machine a pause lasts longer than it computes.
      const spent_us = this.#spent_us[at] ?? 0;
      const taken_us = Math.min(pause_us, spent_us);
      this.#spent_us[at] = spent_us - taken_us;
      this.#taken_us += taken_us;
      const account = this.#accounts[at];
      if (account !== undefined) account.own_us -= taken_us;
      return;
    }
  }
}
