// Which worker gets a request, and how many it may hold.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, ask, Hold, running, sent, statusWhen } from './scenario.ts';

void test('the first free worker gets the next request', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 3, env: hold.env });
  const { workers } = await allReady(sluice, 3);
  const first = workers.find(({ instance }) => instance === 0)?.pid;
  for (let index = 0; index < 9; index++)
    assert.equal(Number((await ask(sluice, `/${index}`)).body.toString()), first);
});

void test('I1: with concurrency = 3 a worker has three requests and never a fourth', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, HOLD_MAX: '3' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, flags: ['--concurrency', '3'] });
  const clients = [];
  for (let index = 0; index < 5; index++) clients.push(await sent(sluice, `/hold/${index}`));
  const now = await statusWhen(sluice, ({ queue }) => queue.length === 2, 'two queued requests');
  assert.equal(now.workers[0]?.current.length, 3);
  await hold.began('/hold/2');
  assert.equal(hold.journal.length, 3);
  hold.release('1');
  await hold.began('/hold/3');
  for (const name of ['0', '2', '3', '4']) hold.release(name);
  for (const client of clients) assert.equal((await client.response()).status, 200);
  assert.ok(!hold.journal.some((line) => line.startsWith('overlap')), hold.journal.join('\n'));
  assert.equal((await sluice.status()).overlaps_total, 0);
});

void test('workers = 1 and concurrency = 1 serve a burst one by one, in order', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  await Promise.all(Array.from({ length: 100 }, (_, index) => ask(sluice, `/burst/${index}`)));
  assert.equal(hold.journal.length, 200);
  hold.journal.forEach((line, index) => {
    assert.ok(line.startsWith(index % 2 === 0 ? 'begin' : 'end'));
  });
});
