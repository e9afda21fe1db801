/**
 * A CPU profile of this process for `sluice profile`, taken from inside: no inspector is opened for anybody else. While it
 * is taken, every copy of `@sluice/react` keeps the names of components on the stack, also while it writes their HTML.
 */
import type { Profiler } from 'node:inspector';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { Script } from 'node:vm';
import { type ComponentCpu, componentUrl, cpuByComponent } from './component-cpu.js';
import { type Frame, reactCopies } from './react-renders.js';
import { cpuUs } from './own-cpu.js';

const SAMPLING_INTERVAL_US = 500;
/** Components that get a frame of their own; further ones share one. */
const NAMES_MAX = 2000;
/** What of a component's name is kept. */
const NAME_CHARACTERS_MAX = 100;
/** Rows that are told; the rest is in the file. */
const ROWS_MAX = 200;

export interface Profile {
  readonly duration_ms: number;
  /** React renders that were begun meanwhile. */
  readonly renders: number;
  readonly samples: number;
  /** Time in which the main thread did not idle, and at most what the process used. */
  readonly cpu_ms: number;
  /** Most time in themselves first. */
  readonly components: readonly ComponentCpu[];
  /** The whole profile, as V8 gives it. */
  readonly file: string;
}

let isRunning = false;

/** Rejects where there is no inspector in this Node, where a profile is being taken already, and where `file` cannot be written. */
export async function takeProfile(duration_ms: number, file: string): Promise<Profile> {
  if (isRunning) throw new Error('a profile of this worker is being taken already');
  isRunning = true;
  try {
    return await profileFor(duration_ms, file);
  } finally {
    isRunning = false;
  }
}

async function profileFor(duration_ms: number, file: string): Promise<Profile> {
  const inspector = createRequire(import.meta.url)('node:inspector') as typeof import('node:inspector');
  const session = new inspector.Session();
  session.connect();
  const rendersBefore = renders();
  try {
    nameFrames(frames());
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
    session.post('Profiler.start');
    const usedBefore_us = cpuUs();
    await pause(duration_ms);
    const used_us = cpuUs() - usedBefore_us;
    const rendersDone = renders() - rendersBefore;
    const profile = stopped(session);
    writeFileSync(file, JSON.stringify(profile), { mode: 0o600 });
    const { samples, cpu_ms, components } = cpuByComponent(profile, used_us);
    return {
      duration_ms: Math.round((profile.endTime - profile.startTime) / 1000),
      renders: rendersDone,
      samples,
      cpu_ms,
      components: components.slice(0, ROWS_MAX),
      file,
    };
  } finally {
    nameFrames(null);
    session.disconnect();
  }
}

/** Within one process the inspector answers before `post` returns. */
function stopped(session: import('node:inspector').Session): Profiler.Profile {
  let answer: { readonly error: Error | null; readonly profile: Profiler.Profile | undefined } | undefined;
  session.post('Profiler.stop', (error, result) => {
    answer = { error, profile: error === null ? result.profile : undefined };
  });
  if (answer?.profile === undefined) throw answer?.error ?? new Error('the inspector gave no profile');
  return answer.profile;
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
      frame = new Script(source, { filename: componentUrl }).runInThisContext() as Frame;
      made.set(name, frame);
    }
    return frame;
  };
}
