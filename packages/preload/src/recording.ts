/** A CPU profile that is being taken of this process, through an inspector of its own. It must not know whom it is for. */
import type { Profiler, Session } from 'node:inspector';
import { ask, openSession } from './inspector-session.js';
import { cpuUs } from './own-cpu.js';
import { clock_us } from './timers.js';

/** A profile that is being taken. */
export class Recording {
  readonly #session: Session;
  readonly #began_us: number;
  readonly #began_after_us: number;
  readonly #usedBefore_us = cpuUs();

  /** Throws where there is no inspector in this Node. */
  constructor(interval_us: number) {
    this.#session = openSession();
    try {
      ask(this.#session, 'Profiler.enable');
      ask(this.#session, 'Profiler.setSamplingInterval', { interval: interval_us });
      this.#began_us = clock_us();
      ask(this.#session, 'Profiler.start');
      this.#began_after_us = clock_us();
    } catch (error) {
      this.#session.disconnect();
      throw error;
    }
  }

  /** Ends it. `began_us`: when it began, by `clock_us`. */
  stop(): { readonly profile: Profiler.Profile; readonly used_us: number; readonly began_us: number } {
    try {
      const used_us = cpuUs() - this.#usedBefore_us;
      const { profile } = ask(this.#session, 'Profiler.stop') as Profiler.StopReturnType;
      // Both clocks are the system's monotonic one, where it has one only.
      const { startTime } = profile;
      const isSame = startTime >= this.#began_us - 1 && startTime <= this.#began_after_us + 1;
      return { profile, used_us, began_us: isSame ? startTime : this.#began_after_us };
    } finally {
      this.#session.disconnect();
    }
  }

  drop(): void {
    this.#session.disconnect();
  }
}
