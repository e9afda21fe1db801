// What `<Cached>` of `@sluice/react` saves, and what it holds, is told in the status, the metrics and the dashboard's feed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { allReady, ask, ownApp, pidOf, running } from './scenario.ts';
import { metric } from './stuck.ts';

type Cache = NonNullable<Snapshot['component_cache']>;

/** Waits until the worker has told of so many looks into its cache. */
async function looked(sluice: Sluice, looks: number): Promise<Cache> {
  return eventually(
    async () => {
      const { component_cache: cache } = await sluice.status();
      return cache !== null && cache.hits_total + cache.misses_total >= looks ? cache : undefined;
    },
    { deadlineMs: 15_000, what: `${looks} looks into the cache` },
  );
}

async function card(sluice: Sluice, id: number): Promise<void> {
  const { status, body } = await ask(sluice, `/card?id=${id}`);
  assert.equal(status, 200);
  assert.match(body.toString(), new RegExp(`<article>Card ${id} `));
}

void test('hits, misses, bytes and evictions of the component cache are told, and stay when a worker dies', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('react-cached.cjs'),
    workers: 1,
    config: 'react = "fast"\n',
  });
  assert.equal((await sluice.status()).component_cache, null, 'nobody has looked');
  for (let times = 0; times < 5; times += 1) await card(sluice, 1);
  const first = await looked(sluice, 5);
  assert.deepEqual(
    { ...first, bytes: first.bytes > 1000 },
    { hits_total: 4, misses_total: 1, evictions_total: 0, entries: 1, bytes: true, bytes_max: 40_000 },
  );
  assert.match(
    (await sluice.cli(['status'])).stdout,
    /\ncached {8}80\.0 % of 5 components reused, (\d+ bytes|[\d.]+ KiB) of/,
  );

  for (let id = 1; id <= 100; id += 1) await card(sluice, id);
  const full = await looked(sluice, 105);
  assert.deepEqual([full.hits_total, full.misses_total], [5, 100]);
  assert.equal(full.evictions_total, 100 - full.entries);
  assert.ok(full.entries > 2 && full.bytes <= full.bytes_max, JSON.stringify(full));
  for (const [name, value] of [
    ['hits_total', full.hits_total],
    ['misses_total', full.misses_total],
    ['evictions_total', full.evictions_total],
    ['bytes', full.bytes],
    ['max_bytes', full.bytes_max],
  ] as const)
    assert.equal(await metric(sluice, `sluice_component_cache_${name}`), value, name);

  const [before] = (await sluice.status()).workers.map(pidOf);
  process.kill(Number(before), 'SIGKILL');
  await eventually(async () => (await allReady(sluice, 1)).workers.map(pidOf)[0] !== before);
  await card(sluice, 7);
  const next = await looked(sluice, 106);
  assert.deepEqual([next.hits_total, next.misses_total, next.entries], [5, 101, 1]);
});
