// Cached pages and `sluice upgrade`: the new gateway has them from its first request, with their true age, and nobody gets a page that
// either of the two gateways has purged.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, bytesOf, ownApp, running } from './scenario.ts';
import { quick, settled, upgraded } from './upgrades.ts';

const keep = '[cache]\nenabled = true\non_reload = "keep"\n';
const long = { SLUICE_DRAIN_TIMEOUT_MS: '20000' };
const page = '/a?cc=s-maxage=600&h=cache-tag:one';

const pages = (t: TestContext, config = keep, env: Record<string, string> = quick): Promise<Sluice> =>
  running(t, { entry: ownApp('pages.js'), workers: 1, config, env });

const did = (answer: RawResponse): string => answer.headers.get('cache-status') ?? '';
const text = (answer: RawResponse): string => answer.body.toString();
const ageOf = (answer: RawResponse): number => Number(answer.headers.get('age'));
const notes = (sluice: Sluice): string =>
  sluice.logs
    .map((line) => String(line['text']))
    .filter((note) => note.startsWith('upgrade: pages:'))
    .join('\n');

/** A connection of the gateway that runs, which stays for one more request when another one serves. */
async function kept(sluice: Sluice): Promise<RawConnection> {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/?cc=no-store'));
  await connection.response();
  return connection;
}

async function over(connection: RawConnection, target: string, method = 'GET'): Promise<RawResponse> {
  connection.send(bytesOf(target, method === 'POST' ? 'Content-Length: 0\r\n' : '', method));
  const answer = await connection.response();
  connection.close();
  return answer;
}

void test('a page is a hit after upgrades, with its true age, its variants and its validators', async (t) => {
  const sluice = await pages(t);
  const first = await ask(sluice, page);
  const varied = '/v?cc=s-maxage=600&h=vary:x-lang';
  const de = await ask(sluice, varied, { headers: 'X-Lang: de\r\n' });
  const fr = await ask(sluice, varied, { headers: 'X-Lang: fr\r\n' });
  const etag = '/e?cc=s-maxage=600&h=etag:%22x%22';
  await ask(sluice, etag);
  const user = await ask(sluice, '/user', { headers: 'Cookie: user=canary\r\n' });
  assert.match(text(user), /user=canary/);
  let age = ageOf(
    await eventually(async () => {
      const answer = await ask(sluice, page);
      return ageOf(answer) >= 2 ? answer : undefined;
    }),
  );
  for (let upgrades = 0; upgrades < 2; upgrades += 1) {
    await upgraded(sluice);
    const again = await ask(sluice, page);
    assert.equal(text(again), text(first));
    assert.match(did(again), /^Sluice; hit; ttl=\d+$/);
    assert.ok(ageOf(again) >= age && ageOf(again) < 300, `${ageOf(again)} s after ${age} s`);
    age = ageOf(again);
    assert.equal(text(await ask(sluice, varied, { headers: 'X-Lang: de\r\n' })), text(de));
    assert.equal(text(await ask(sluice, varied, { headers: 'X-Lang: fr\r\n' })), text(fr));
    assert.equal((await ask(sluice, etag, { headers: 'If-None-Match: "x"\r\n' })).status, 304);
    assert.doesNotMatch(text(await ask(sluice, '/user')), /user=canary/);
    await settled(sluice);
  }
  const note = /^upgrade: pages: \d+ were taken over from the gateway before, 0 MiB$/m;
  await eventually(() => note.test(notes(sluice)), { what: 'a note of that' });
  await sluice.cli(['cache', 'purge', '--tag', 'one']);
  assert.notEqual(text(await ask(sluice, page)), text(first), 'tags go over too');
});

void test('after an upgrade pages are stale or gone as cache.on_reload says', async (t) => {
  const target = '/a?cc=s-maxage=600,stale-while-revalidate=600';
  const sluice = await pages(t, '[cache]\nenabled = true\n');
  const first = await ask(sluice, target);
  await upgraded(sluice);
  const stale = await ask(sluice, target);
  assert.equal(text(stale), text(first));
  assert.match(did(stale), /detail=revalidating$/);
  await eventually(async () => text(await ask(sluice, target)) !== text(first));
  await settled(sluice);

  const drops = await pages(t, '[cache]\nenabled = true\non_reload = "drop"\n');
  const gone = await ask(drops, target);
  await upgraded(drops);
  const next = await ask(drops, target);
  assert.match(did(next), /fwd=uri-miss/);
  assert.notEqual(text(next), text(gone));
});

void test('i7 what one of the two gateways purges while the old one finishes, nobody gets of the other', async (t) => {
  const sluice = await pages(t, keep, long);
  const [toPost, toPurge, toRead, toReadTag] = [
    await kept(sluice),
    await kept(sluice),
    await kept(sluice),
    await kept(sluice),
  ];
  const fetched = async (target: string): Promise<string> => text(await ask(sluice, target));
  const posted = '/posted?cc=s-maxage=600';
  const byUrl = '/by-url?cc=s-maxage=600';
  const before = { page: await fetched(page), posted: await fetched(posted), byUrl: await fetched(byUrl) };
  await upgraded(sluice);
  for (const [target, body] of [
    [page, before.page],
    [posted, before.posted],
    [byUrl, before.byUrl],
  ] as const)
    assert.equal(await fetched(target), body);

  // A change through the old gateway, and a purge by its app.
  assert.equal((await over(toPost, posted, 'POST')).status, 200);
  assert.notEqual(await fetched(posted), before.posted);
  const purged = await over(toPurge, `/purge?pages=${encodeURIComponent('{"tag":"one"}')}`);
  assert.equal(text(purged), '1');
  const second = await fetched(page);
  assert.notEqual(second, before.page);
  // And purges at the new one: by the command, by a change.
  assert.equal((await sluice.cli(['cache', 'purge', '--url', '/by-url?cc=s-maxage=600'])).code, 0);
  const through = await over(toRead, byUrl);
  assert.notEqual(text(through), before.byUrl);
  assert.equal((await ask(sluice, page, { method: 'POST' })).status, 200);
  assert.notEqual(text(await over(toReadTag, page)), before.page);
});

void test('i7 a render of the old gateway that began before a purge is not kept by the new one', async (t) => {
  const sluice = await pages(t, keep, long);
  const slow = (path: string): string => `${path}?cc=s-maxage=600&ms=1500&h=cache-tag:${path.slice(1)}`;
  const renders = await Promise.all([kept(sluice), kept(sluice)]);
  renders[0].send(bytesOf(slow('/purged')));
  renders[1].send(bytesOf(slow('/left')));
  await eventually(async () => (await sluice.status()).requests.in_service >= 1, { what: 'a render' });
  await upgraded(sluice);
  assert.equal((await sluice.cli(['cache', 'purge', '--tag', 'purged'])).code, 0);
  const [purged, left] = await Promise.all(renders.map((connection) => connection.response()));
  assert.ok(purged !== undefined && left !== undefined);
  // To ask for the page would be to have it rendered anew.
  const url = `http://app${slow('/left')}`;
  await eventually(async () => (await sluice.cli(['cache', 'show', url])).stdout.startsWith('200 '), {
    what: 'the late render at the new gateway',
  });
  assert.equal(text(await ask(sluice, slow('/left'))), text(left));
  assert.notEqual(text(await ask(sluice, slow('/purged'))), text(purged));
});

void test('pages of an old gateway that is killed meanwhile are given up', async (t) => {
  const sluice = await pages(t, keep, long);
  const first = await sluice.gatewayPid();
  const open = await RawConnection.connect(sluice.port);
  open.send(bytesOf('/stream?ms=20000'));
  const { body } = await ask(sluice, page);
  await upgraded(sluice);
  assert.deepEqual((await ask(sluice, page)).body, body);
  process.kill(first, 'SIGKILL');
  await eventually(async () => text(await ask(sluice, page)) !== body.toString(), { what: 'a new page' });
  const note = /the cache is emptied, as purges of the other gateway may have been missed/;
  await eventually(() => note.test(notes(sluice)), { what: 'a note of that' });
  // The process that a test ends is the one that was killed.
  assert.equal((await sluice.cli(['stop'])).code, 0);
});

void test('a new gateway that dies while it takes pages over costs the old one none', async (t) => {
  const sluice = await pages(t);
  const { body } = await ask(sluice, page);
  const failed = await sluice.cli(['upgrade', '--binary', ownApp('takes-pages-and-dies.js')]);
  assert.equal(failed.code, 1, failed.stdout);
  const again = await ask(sluice, page);
  assert.deepEqual([again.body, did(again).startsWith('Sluice; hit')], [body, true]);
  assert.equal((await sluice.cli(['cache', 'purge', '--tag', 'one'])).code, 0);
  await upgraded(sluice);
  assert.notEqual(text(await ask(sluice, page)), body.toString());
});

void test('a new gateway that keeps no pages takes over without them', async (t) => {
  const sluice = await pages(t);
  const { body } = await ask(sluice, page);
  const config = path.join(sluice.dir, 'sluice.toml');
  fs.writeFileSync(config, '[cache]\nenabled = false\n');
  await upgraded(sluice);
  const without = await ask(sluice, page);
  assert.deepEqual([without.status, did(without)], [200, '']);
  await settled(sluice);
  fs.writeFileSync(config, keep);
  await upgraded(sluice);
  const next = await ask(sluice, page);
  assert.match(did(next), /fwd=uri-miss/);
  assert.notDeepEqual(next.body, body);
});
