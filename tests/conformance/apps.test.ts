/**
 * Starts every app of `apps.ts` alone and under Sluice with two workers and the default configuration, asks the same of
 * both, and compares. Under Sluice it is then reloaded while it is asked, and stopped.
 *
 * SLUICE_TEST_LONG=1            also those that take minutes to install or build
 * SLUICE_CONFORMANCE_ONLY=a,b   only these
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { apps, type App } from './apps.ts';
import { ask, type Ask } from './client.ts';
import { isListening, launch, type Mode, type Running } from './launch.ts';
import { buildIfStale, installIfStale } from './prepare.ts';
import { ownRuntime } from './runtime.ts';

const long = process.env['SLUICE_TEST_LONG'] === '1';
const only = process.env['SLUICE_CONFORMANCE_ONLY']?.split(',');
const prepare_timeout_ms = 30 * 60_000;
/** Asked beside a reload. */
const asked_at_once = 2;
const asked_again_ms = 20;

const chosen = apps.filter(({ name, tier }) =>
  only === undefined ? long || tier === 'quick' : only.includes(name),
);

for (const app of chosen) {
  void describe(app.name, () => {
    it(
      'answers under Sluice as it does alone, through a reload, and stops',
      { timeout: prepare_timeout_ms },
      async () => {
        const install = join(import.meta.dirname, 'frameworks', app.install);
        await installIfStale(install, ownRuntime.bin);
        await buildIfStale(app, install, ownRuntime.bin);
        const alone = await tried(app, 'bare', async () => {});
        const under = await tried(app, 'sluice', (running) => reloaded(app, running));
        assert.deepEqual(under, alone);
      },
    );
  });
}

/** Starts the app, asks it, lets `then` follow, stops it; returns what `ask` saw. On failure the output is shown. */
async function tried(app: App, mode: Mode, then: (running: Running) => Promise<void>): Promise<unknown> {
  const env = { ...(await app.fresh?.()) };
  const folder = join(import.meta.dirname, 'frameworks', app.folder);
  const running = await launch({ ...app, env: { ...app.env, ...env } }, folder, ownRuntime, mode);
  let isStopped = false;
  try {
    const send = (path: string, more: Partial<Ask> = {}) => ask({ port: running.port, path, ...more });
    const seen = await app.ask({ app: running, env, send });
    await then(running);
    const ended = await running.stop();
    isStopped = true;
    if (mode === 'sluice') assert.equal(ended, 0, 'the exit code after SIGTERM');
    assert.equal(await isListening(running.port), false, 'something still listens');
    return seen;
  } catch (error) {
    throw new Error(`${mode}: ${String(error)}\n${running.output().slice(-4_000)}`, { cause: error });
  } finally {
    if (!isStopped) await running.stop();
  }
}

/** Both workers are replaced while it is asked; none of the answers may be lost, and none of the workers. */
async function reloaded(app: App, running: Running): Promise<void> {
  const before = await workersOf(running);
  assert.deepEqual(
    before.map(({ restarts_total }) => restarts_total),
    [0, 0],
    'a worker was lost before',
  );
  let isOver = false;
  const answers = new Map<string, number>();
  const askers = Array.from({ length: asked_at_once }, async () => {
    while (!isOver) {
      const { status, headers } = await ask({ path: '/', ...app.steady, port: running.port });
      const answer = `${status} ${String(headers['x-sluice-error'] ?? '')}`.trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await wait(asked_again_ms);
    }
  });
  await running.reload().finally(() => (isOver = true));
  await Promise.all(askers);
  assert.deepEqual([...answers.keys()], ['200'], `beside the reload: ${JSON.stringify([...answers])}`);
  const after = await workersOf(running);
  assert.equal(after.length, 2);
  const old = new Set(before.map(({ pid }) => pid));
  assert.ok(
    after.every(({ pid }) => !old.has(pid)),
    'a worker was not replaced',
  );
}

interface Worker {
  readonly state: string;
  readonly restarts_total: number;
  readonly pid: number | null;
}

async function workersOf(running: Running): Promise<Worker[]> {
  const { workers } = (await running.status()) as { workers: Worker[] };
  return workers.filter(({ state }) => state !== 'leaving');
}
