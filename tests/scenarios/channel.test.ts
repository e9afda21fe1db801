// Messages between workers, while workers are killed and replaced by those of another version.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { allReady, ask, gone, ownApp, pidOf, running, sent } from './scenario.ts';
import { allOf, reload, Versions } from './versions.ts';

interface Told {
  readonly version: string;
  readonly worker: number;
  readonly workers: readonly number[];
}

const told = async (sluice: Sluice, target = '/'): Promise<Told> =>
  JSON.parse((await ask(sluice, target)).body.toString()) as Told;

/** Once the worker that answers knows so many others. */
const knowing = (sluice: Sluice, others: number): Promise<Told> =>
  eventually(async () => {
    const answer = await told(sluice);
    return answer.workers.length === others ? answer : undefined;
  });

const hears = (sluice: Sluice, worker: number, text: string, from: number): Promise<true> =>
  eventually(() => sluice.stdout.includes(`${worker} hears ${text} of ${from}`) || undefined, {
    what: `${worker} hears ${text} of ${from}`,
  });

void test('messages reach the other workers, also those that come in the place of a killed one', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: ownApp('channel.mjs'), workers: 3, env: versions.env });
  const { workers } = await allReady(sluice, 3);
  await knowing(sluice, 2);
  const first = await told(sluice, '/broadcast?text=first');
  for (const other of first.workers) await hears(sluice, other, 'first', first.worker);
  const asked = await told(sluice, '/ask?text=second');
  for (const other of asked.workers) {
    await hears(sluice, other, 'second', asked.worker);
    await hears(sluice, asked.worker, 'a reply to second', other);
  }

  const [victim] = workers.map(pidOf);
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGKILL');
  await gone([victim]);
  await allReady(sluice, 3);
  const killed = workers[0]?.id;
  const third = await eventually(async () => {
    const answer = await told(sluice);
    return answer.workers.length === 2 && ![...answer.workers, answer.worker].includes(killed ?? -1)
      ? told(sluice, '/broadcast?text=third')
      : undefined;
  });
  for (const other of third.workers) await hears(sluice, other, 'third', third.worker);
  const files = fs.readdirSync(sluice.dir, { encoding: 'utf8', recursive: true });
  const sockets = files.flatMap((file) => /(\d+)\.channel$/.exec(file)?.[1] ?? []);
  assert.deepEqual(new Set(sockets.map(Number)), new Set([...third.workers, third.worker]));
});

void test('during a rolling reload, workers of both versions hear each other', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const env = { ...versions.env, SLUICE_WORKERS_STOP_TIMEOUT_MS: '40000' };
  const sluice = await running(t, { entry: ownApp('channel.mjs'), workers: 1, env });
  const stream = await sent(sluice, '/events');
  await stream.untilBytes('data: ');
  const { worker: old } = await told(sluice);
  versions.next({ version: 'two' });
  await reload(sluice);
  const next = await knowing(sluice, 1);
  assert.deepEqual([next.version, next.workers], ['two', [old]]);
  await told(sluice, '/ask?text=news');
  await stream.untilBytes(`data: news of ${next.worker}\n`);
  await hears(sluice, next.worker, 'a reply to news', old);
  stream.close();
  await allOf(sluice, 2, 1);
  await knowing(sluice, 0);
});
