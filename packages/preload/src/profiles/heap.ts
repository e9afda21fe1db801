/** Profiles of the heap, for `sluice heap`: a snapshot, which blocks the process, or a sample of what the app allocates. */
import type { HeapProfiler } from 'node:inspector';
import { chmodSync, closeSync, fstatSync, openSync, readSync, rmSync, truncateSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';
import { ask, openSession, writeWhole } from './inspector-session.js';
import { type Ends, lasts } from './lasting.js';
import type { HeapKind, ProfileRecord } from '../control/messages.js';
import { cpuUs } from '../cpu/own-cpu.js';
import { now_ms } from '../timers.js';

/** Bytes between two samples, on average. */
const SAMPLING_INTERVAL_BYTES = 32_768;

/** Rejects as `takeProfile` does. */
export async function takeHeapProfile(
  kind: HeapKind,
  duration_ms: number,
  file: string,
  standsStill: () => void,
  ends: Ends,
): Promise<ProfileRecord> {
  const [began_ms, usedBefore_us] = [now_ms(), cpuUs()];
  if (kind === 'snapshot') {
    standsStill();
    takeSnapshot(file);
  } else {
    await sample(kind === 'allocations', duration_ms, file, standsStill, ends);
  }
  return {
    duration_ms: now_ms() - began_ms,
    used_ms: (cpuUs() - usedBefore_us) / 1000,
    renders: 0,
    node: process.execPath,
  };
}

function takeSnapshot(file: string): void {
  try {
    writeHeapSnapshot(file);
    if (!isWhole(file))
      throw new Error(`${file}: the snapshot could not be written completely; is the disk full?`);
    chmodSync(file, 0o600);
  } catch (error) {
    giveUp(file);
    throw error;
  }
}

/** Node keeps a file open that it could not write, which takes its room on the disk until the process ends unless it is empty. */
function giveUp(file: string): void {
  try {
    truncateSync(file);
  } catch {
    // There is none.
  }
  rmSync(file, { force: true });
}

/** Node does not always say that it could not write the rest. */
function isWhole(file: string): boolean {
  const open = openSync(file, 'r');
  try {
    const end = Buffer.alloc(8);
    const read = readSync(open, end, 0, end.length, Math.max(fstatSync(open).size - end.length, 0));
    return end.toString('latin1', 0, read).trimEnd().endsWith('}');
  } finally {
    closeSync(open);
  }
}

async function sample(
  withCollected: boolean,
  duration_ms: number,
  file: string,
  standsStill: () => void,
  ends: Ends,
): Promise<void> {
  const session = openSession();
  try {
    ask(session, 'HeapProfiler.enable');
    ask(session, 'HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_INTERVAL_BYTES,
      includeObjectsCollectedByMajorGC: withCollected,
      includeObjectsCollectedByMinorGC: withCollected,
    });
    await lasts(duration_ms, ends);
    standsStill();
    const { profile } = ask(session, 'HeapProfiler.stopSampling') as HeapProfiler.StopSamplingReturnType;
    writeWhole(file, JSON.stringify(profile));
  } finally {
    session.disconnect();
  }
}
