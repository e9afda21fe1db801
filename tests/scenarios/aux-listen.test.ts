// A second port of the app: one address on the outside, every worker behind it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { allReady, ownApp, running, statusWhen } from './scenario.ts';

void test('a second port reaches every worker in turn, also after one was killed', async (t) => {
  const port = await freePort();
  const sluice = await running(t, {
    entry: ownApp('two-doors.js'),
    workers: 2,
    env: { SECOND_PORT: String(port) },
  });
  const answers = async (): Promise<Set<string>> =>
    new Set(
      await Promise.all([1, 2, 3, 4].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text())),
    );
  const pidsOf = async (): Promise<Set<string>> =>
    new Set((await allReady(sluice, 2)).workers.map(({ pid }) => `second ${pid}\n`));
  const before = await pidsOf();
  await eventually(async () => (await answers()).size === 2, { what: 'both workers behind the second port' });
  assert.deepEqual(await answers(), before);
  assert.match(await (await fetch(sluice.url)).text(), /^main \d+\n$/);

  const [victim] = (await sluice.status()).workers;
  process.kill(Number(victim?.pid), 'SIGKILL');
  // A connection that was given to the dying worker may break, as it would without a gateway.
  await eventually(async () => (await answers()).size >= 1, { what: 'the worker that is left' });
  await statusWhen(sluice, ({ workers }) => workers[0]?.restarts_total === 1, 'a new worker');
  const now = await pidsOf();
  assert.notDeepEqual(now, before);
  await eventually(async () => (await answers()).size === 2, {
    what: 'both workers behind the second port again',
  });
  assert.deepEqual(await answers(), now);
});
