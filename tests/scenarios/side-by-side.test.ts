// Two gateways on one machine know nothing of each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

void test('two instances run side by side and every command means one of them', async (t) => {
  const one = await running(t, { entry: app('trivial.js'), workers: 1 });
  const two = await running(t, { entry: app('echo.js'), workers: 2 });
  assert.equal((await ask(one, '/')).body.toString(), 'Hello from the trivial handler.\n');
  assert.match((await ask(two, '/')).body.toString(), /"method":"GET"/);
  const [first, second] = [await one.status(), await two.status()];
  assert.notEqual(first.pid, second.pid);
  assert.deepEqual([first.workers.length, second.workers.length], [1, 2]);
  assert.equal((await one.cli(['stop'])).code, 0);
  assert.equal((await one.finished()).code, 0);
  assert.equal((await one.cli(['status'])).code, 3);
  assert.equal((await two.status()).state, 'serving');
  assert.equal((await ask(two, '/')).status, 200);
});
