// An app that takes seconds to boot: the present version serves with all its workers until the next is ready.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { running } from './scenario.ts';
import { Load, Versions, allOf } from './versions.ts';

void test('I3: while the new version boots for seconds, the current one serves with every worker', async (t) => {
  const versions = new Versions(t, { version: 'one', works_ms: 2 });
  const env = { ...versions.env, ...bounds({ reload_at_once: 2 }) };
  const sluice = await running(t, { entry: versions.app, workers: 2, env });
  await allOf(sluice, 1, 2);
  const load = new Load(t, sluice, { clients: 6 });
  await load.has('one', 20);
  versions.next({ version: 'two', works_ms: 2, listens_after_ms: 3_000 });
  const reloading = sluice.cli(['reload']);
  const serving = new Set<number>();
  let over = false;
  void reloading.then(() => (over = true));
  while (!over) {
    const { workers } = await sluice.status();
    serving.add(workers.filter(({ state }) => state === 'ready' || state === 'busy').length);
  }
  const { code, stdout } = await reloading;
  assert.equal(code, 0);
  assert.match(stdout, /done in [3-9]\.\d s/);
  assert.deepEqual(serving, new Set([2]), 'never fewer workers than wanted took requests');
  await allOf(sluice, 2, 2);
  await load.has('two', 20);
  const answers = await load.end();
  assert.deepEqual(Object.keys(answers).sort(), ['one', 'two'], JSON.stringify(answers));
});
