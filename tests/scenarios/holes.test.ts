// A component that often leaves holes in pages is an alarm; one that seldom does is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Snapshot } from '../support/snapshot.ts';
import { ask, running, statusWhen } from './scenario.ts';
import { metric } from './stuck.ts';

const app = fileURLToPath(new URL('apps/holes.mjs', import.meta.url));

void test('a component that throws on many pages is an alarm that names it and how it ends', async (t) => {
  const sluice = await running(t, { entry: app, workers: 1 });
  for (let page = 0; page < 30; page++) await ask(sluice, '/');
  const { body } = await ask(sluice, '/?fails');
  assert.deepEqual(JSON.parse(body.toString()), { rendered: 1, error: 1 });
  const counted = ({ effects }: Snapshot) =>
    effects?.components.find(({ name }) => name === 'Price')?.outcomes['error'];
  const once = await statusWhen(sluice, (now) => counted(now) === 1, 'the report of one hole');
  assert.deepEqual(once.alarms, [], 'one of 31 is not often');
  for (let page = 0; page < 10; page++) await ask(sluice, '/?fails');
  const holes = ({ alarms }: Snapshot) => alarms.find(({ alarm }) => alarm === 'holes');
  const about = holes(await statusWhen(sluice, (now) => holes(now) !== undefined, 'an alarm', 30_000));
  assert.match(about?.text ?? '', /^\d+ % of the renders of Price .* the outcome error: `sluice status`/);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="holes"}'), 1);
  assert.match((await sluice.cli(['status'])).stdout, /^ALARM +holes /m);
});
