// A regular expression that backtracks for ever: V8 gives no CPU back, but its inspector still answers.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { ask, assertRefused, running } from './scenario.ts';
import { known, lineOf, logged, quick, stuckApp } from './stuck.ts';

void test('an endless regular expression is named with its line', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: quick, cwd: path.dirname(stuckApp) });
  const line = await known(sluice, '/regex', 'function');
  assert.deepEqual(
    [line['function'], line['file'], line['line']],
    ['check', 'stuck.js', lineOf('.test(text)')],
  );
});

void test('a client with an earlier time-out gets that, and the worker is found all the same', async (t) => {
  const env = { ...quick, SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '300' };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  assertRefused(await ask(sluice, '/regex'), 504, 'SLU-WORKER-TIMEOUT');
  assert.equal((await logged(sluice, 'worker_stuck'))['target'], '/regex');
  assert.equal((await ask(sluice, '/')).status, 200);
});
