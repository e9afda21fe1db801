/**
 * A CPU profile of this process for `sluice profile`, taken from inside. While it
 * is taken, every copy of `@sluice/react` keeps the names of components on the stack, also while it writes their HTML.
 */
import type { Profiler, Session } from 'node:inspector';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Script } from 'node:vm';
import { ask, openSession, writeWhole } from './inspector-session.js';
import type { Taken } from './messages.js';
import { cpuUs } from './own-cpu.js';
import { clock_us, RequestLog } from './profile-requests.js';
import { type Frame, reactCopies } from './react-renders.js';
import type { Requests } from './requests.js';

const SAMPLING_INTERVAL_US = 500;
/** Components that get a frame of their own; further ones share one. */
const NAMES_MAX = 2000;
/** What of a component's name is kept. */
const NAME_CHARACTERS_MAX = 100;
/** The file of the frames that stand for components. The gateway's `components.rs` looks for it. */
const COMPONENT_URL = 'sluice-component:';

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

/**
 * Rejects where there is no inspector in this Node, where a file cannot be written, and when `signal` says so; then nothing is
 * left. With `requests` the file beside it says when which of them ran.
 */
export async function takeProfile(
  duration_ms: number,
  file: string,
  requests: Requests | undefined,
  signal: AbortSignal,
): Promise<Taken> {
  const rendersBefore = renders();
  nameFrames(frames());
  const log = requests === undefined ? undefined : new RequestLog(requests);
  try {
    const recording = new Recording(SAMPLING_INTERVAL_US);
    try {
      await pause(duration_ms, undefined, { signal, ref: false });
    } catch (error) {
      recording.drop();
      throw error;
    }
    const { profile, used_us, began_us } = recording.stop();
    writeWhole(file, JSON.stringify(profile));
    try {
      if (log !== undefined) writeWhole(`${file}.requests`, JSON.stringify(log.taken(began_us)));
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
    return {
      duration_ms: (profile.endTime - profile.startTime) / 1000,
      used_ms: used_us / 1000,
      renders: renders() - rendersBefore,
      node: process.execPath,
    };
  } finally {
    log?.end();
    nameFrames(null);
  }
}

function renders(): number {
  return reactCopies().reduce((sum, copy) => sum + copy.statistics().renders, 0);
}

function nameFrames(make: ((name: string) => Frame) | null): void {
  for (const copy of reactCopies()) copy.nameFrames(make);
}

/** V8 names a frame by the source of its function, so that each name needs source of its own. */
function frames(): (name: string) => Frame {
  const made = new Map<string, Frame>();
  return (given) => {
    const name = made.size < NAMES_MAX ? given.slice(0, NAME_CHARACTERS_MAX) : '(other components)';
    let frame = made.get(name);
    if (frame === undefined) {
      const key = JSON.stringify(name);
      const source = `({ ${key}: function (run, a, b, c, d, e) { run(a, b, c, d, e); } })[${key}]`;
      frame = new Script(source, { filename: COMPONENT_URL }).runInThisContext() as Frame;
      made.set(name, frame);
    }
    return frame;
  };
}
