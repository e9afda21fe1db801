// The gateway's threads exist before it serves, and stay: later there may be none to be had.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { app } from '../support/sluice.ts';
import { allReady, ask, running } from './scenario.ts';

function threadsOf(pid: number): number {
  return fs.readdirSync(`/proc/${pid}/task`).length;
}

void test('the threads that files need exist before the first request and never end', async (t) => {
  if (process.platform !== 'linux') return t.skip('threads are counted in /proc');
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  const { pid } = await allReady(sluice, 1);
  const before = threadsOf(pid);
  // The main one, the journal's, and four.
  assert.ok(before >= 6, `${before} threads`);
  // Idle threads ended after 10 s.
  await wait(11_000);
  assert.equal((await ask(sluice, '/', { method: 'POST', body: 'x'.repeat(3_000_000) })).status, 200);
  assert.ok(threadsOf(pid) >= before, `${threadsOf(pid)} threads of ${before}`);
});
