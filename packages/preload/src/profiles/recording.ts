/** A CPU profile that is being taken of this process, through an inspector of its own. It must not know whom it is for. */
import type { Profiler, Session } from 'node:inspector';
import { ask, openSession } from './inspector-session.js';
import { cpuUs } from '../cpu/own-cpu.js';
import { clock_us } from '../timers.js';

/** A profile that is being taken. */
export class Recording {
  readonly #session: Session;
  readonly #began_us: number;
  readonly #began_after_us: number;
  readonly #usedBefore_us: number;

  /** Throws where there is no inspector in this Node. */
  constructor(interval_us: number) {
    this.#session = openSession();
    try {
      ask(this.#session, 'Profiler.enable');
      ask(this.#session, 'Profiler.setSamplingInterval', { interval: interval_us });
      this.#began_us = clock_us();
      ask(this.#session, 'Profiler.start');
      this.#began_after_us = clock_us();
      // The start takes many milliseconds of a large app, which are not those of what is profiled.
      this.#usedBefore_us = cpuUs();
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
      if (isSame) leaveOut(profile, this.#began_after_us);
      return { profile, used_us, began_us: isSame ? profile.startTime : this.#began_after_us };
    } finally {
      this.#session.disconnect();
    }
  }

  drop(): void {
    this.#session.disconnect();
  }
}

/** Leaves out the samples up to then, by the profile's clock: they are those of its own start. */
function leaveOut(profile: Profiler.Profile, until_us: number): void {
  const { nodes, samples = [], timeDeltas = [] } = profile;
  let [at, at_us] = [0, profile.startTime + (timeDeltas[0] ?? 0)];
  while (at < samples.length && at_us <= until_us) {
    const node = nodes.find(({ id }) => id === samples[at]);
    if (node?.hitCount !== undefined && node.hitCount > 0) node.hitCount -= 1;
    at += 1;
    at_us += timeDeltas[at] ?? 0;
  }
  if (at === 0) return;
  profile.samples = samples.slice(at);
  profile.timeDeltas = timeDeltas.slice(at);
  if (profile.timeDeltas.length > 0) profile.timeDeltas[0] = at_us - until_us;
  profile.startTime = until_us;
}
