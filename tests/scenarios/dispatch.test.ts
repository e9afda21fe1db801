// Which worker gets a request, and how many it may hold.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, ask, Hold, running, sent, statusWhen } from './scenario.ts';

async function tenInARow(choice: string, t: Parameters<typeof running>[0]): Promise<number[]> {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_WORKERS_CHOICE: choice };
  const sluice = await running(t, { entry: hold.app, workers: 3, env });
  const { workers } = await allReady(sluice, 3);
  const places = new Map(workers.map(({ pid, instance }) => [Number(pid), instance]));
  const chosen: number[] = [];
  for (let index = 0; index < 9; index++) {
    const pid = Number((await ask(sluice, `/${index}`)).body.toString());
    chosen.push(places.get(pid) ?? assert.fail(`${pid} is no worker`));
  }
  return chosen;
}

void test('`first` keeps to the first free worker', async (t) => {
  assert.deepEqual(await tenInARow('first', t), [0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

void test('`round-robin` goes around', async (t) => {
  const chosen = await tenInARow('round-robin', t);
  chosen.forEach((place, index) => {
    if (index > 0) assert.equal(place, ((chosen[index - 1] ?? 0) + 1) % 3, String(chosen));
  });
});

void test('`least-recent` takes the one that has been idle for longest', async (t) => {
  const chosen = await tenInARow('least-recent', t);
  assert.deepEqual(chosen.slice(3, 6), chosen.slice(0, 3));
  assert.equal(new Set(chosen.slice(0, 3)).size, 3);
});

void test('I1: with concurrency = 3 a worker holds three and never a fourth', async (t) => {
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
