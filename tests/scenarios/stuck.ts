// What the scenarios of stuck workers share: the app, limits that a test can wait for, and their log lines. It must not
// know any single scenario.
import fs from 'node:fs';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, assertRefused, ownApp } from './scenario.ts';

export const stuckApp = ownApp('stuck.js');

/** The line of `pattern` in the app's source, from 1. */
export function lineOf(pattern: string): number {
  const at = fs
    .readFileSync(stuckApp, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(pattern));
  if (at < 0) throw new Error(`${stuckApp} has no ${pattern}`);
  return at + 1;
}

/** The shortest limit that there is: workers beat once a second. */
export const STUCK_AFTER_MS = 1_500;
/** From the limit to the kill. The product says a second; the rest is for a machine that runs other tests as well. */
export const KILL_MS = 1_000;
export const SLACK_MS = 3_000;

/**
 * Without quarantine, because a request that gets a worker stuck may have to do so a few times, see `known`. And no
 * stand-in boots in the second in which the worker is looked into; in production seconds lie between the two.
 */
export const quick = {
  SLUICE_WORKERS_STUCK_AFTER_MS: String(STUCK_AFTER_MS),
  SLUICE_QUARANTINE_TTL_MS: '0',
  ...bounds({ overdue_after_ms: 0 }),
};

/** The first log line of this event, once it is written. */
export async function logged(sluice: Sluice, event: string): Promise<Record<string, unknown>> {
  return eventually(() => sluice.logs.find((line) => line['event'] === event), {
    what: `a line ${event} in the log`,
    deadlineMs: 15_000,
  });
}

const ATTEMPTS_MAX = 4;

/**
 * The line of a worker that got stuck with `target` and of which this is known. The look into it may take less than a
 * second, which a crowded machine does not always give; so it may get stuck a few times more.
 */
export async function known(
  sluice: Sluice,
  target: string,
  what: 'function' | 'profile',
): Promise<Record<string, unknown>> {
  for (let attempt = 1; ; attempt++) {
    const lines = sluice.logs.filter(({ event }) => event === 'worker_stuck');
    const line = lines.find((one) => one['target'] === target && one[what] !== null);
    if (line !== undefined) return line;
    if (attempt > ATTEMPTS_MAX) throw new Error(`no ${what} of ${target} in ${JSON.stringify(lines)}`);
    assertRefused(await ask(sluice, target, { deadlineMs: 30_000 }), 504, 'SLU-WORKER-STUCK');
  }
}

/** Value of a sample on the metrics page. */
export async function metric(sluice: Sluice, sample: string): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  const line = page.split('\n').find((text) => text.startsWith(`${sample} `));
  if (line === undefined) throw new Error(`no ${sample} in ${page}`);
  return Number(line.slice(sample.length + 1));
}
