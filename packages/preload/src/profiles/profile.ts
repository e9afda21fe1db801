/**
 * A CPU profile of this process for `sluice profile`, taken from inside. While it
 * is taken, every copy of `@sluice/react` keeps the names of components on the stack, also while it writes their HTML.
 */
import { rmSync } from 'node:fs';
import { Script } from 'node:vm';
import { writeWhole } from './inspector-session.js';
import { type Ends, lasts } from './lasting.js';
import type { ProfileRecord } from '../control/messages.js';
import { RequestLog } from './profile-requests.js';
import { Recording } from './recording.js';
import { type Frame, reactCopies } from '../host/react-renders.js';
import type { Requests } from '../requests/requests.js';

const SAMPLING_INTERVAL_US = 500;
/** Maximum number of components with their own frame. Further ones share one. */
const NAMES_MAX = 2000;
/** Maximum stored length of a component's name, characters. */
const NAME_CHARACTERS_MAX = 100;
/** The file of the frames that stand for components. The gateway's `components.rs` looks for it. */
const COMPONENT_URL = 'sluice-component:';

/**
 * Rejects where there is no inspector in this Node, where a file cannot be written, and when it is cancelled; then nothing is
 * left. With `requests` the file beside it says when which of them ran.
 */
export async function takeProfile(
  duration_ms: number,
  file: string,
  requests: Requests | undefined,
  standsStill: () => void,
  ends: Ends,
): Promise<ProfileRecord> {
  const rendersBefore = renders();
  nameFrames(frames());
  const log = requests === undefined ? undefined : new RequestLog(requests);
  try {
    const recording = new Recording(SAMPLING_INTERVAL_US);
    try {
      await lasts(duration_ms, ends);
    } catch (error) {
      recording.drop();
      throw error;
    }
    standsStill();
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
