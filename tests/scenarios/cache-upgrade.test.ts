// The page cache and `sluice upgrade`: the new gateway begins with an empty memory, and nobody gets a page that either of the two gateways
// has purged. What becomes of pages on disk is in cache-disk.test.ts.
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

void test('a new gateway begins with an empty memory and caches from its first request', async (t) => {
  const sluice = await pages(t);
  const first = await ask(sluice, page);
  for (let upgrades = 0; upgrades < 2; upgrades += 1) {
    await upgraded(sluice);
    const next = await ask(sluice, page);
    assert.match(did(next), /fwd=uri-miss/);
    assert.notEqual(text(next), text(first));
    const again = await ask(sluice, page);
    assert.equal(text(again), text(next));
    assert.match(did(again), /^Sluice; hit; ttl=\d+$/);
    await settled(sluice);
  }
});

void test('i7 what one of the two gateways purges while the old one finishes, nobody gets of the other', async (t) => {
  const sluice = await pages(t, keep, long);
  const fetched = async (target: string): Promise<string> => text(await ask(sluice, target));
  const [posted, byUrl, byTag] = [
    '/posted?cc=s-maxage=600',
    '/by-url?cc=s-maxage=600',
    '/by-tag?cc=s-maxage=600&h=cache-tag:two',
  ];
  const targets = [page, posted, byUrl, byTag];
  const old = new Map<string, string>();
  for (const target of targets) old.set(target, await fetched(target));
  const [toPost, toPurge, toRead, toReadTag] = [
    await kept(sluice),
    await kept(sluice),
    await kept(sluice),
    await kept(sluice),
  ];
  await upgraded(sluice);
  const before = new Map<string, string>();
  for (const target of targets) before.set(target, await fetched(target));
  for (const target of targets)
    assert.equal(await fetched(target), before.get(target), 'cached by the new one');

  // A change through the old gateway, and a purge by its app, each in force at the new one when it is answered.
  assert.equal((await over(toPost, posted, 'POST')).status, 200);
  assert.notEqual(await fetched(posted), before.get(posted));
  await over(toPurge, `/purge?pages=${encodeURIComponent('{"tag":"one"}')}`);
  assert.notEqual(await fetched(page), before.get(page));
  assert.equal(await fetched(byUrl), before.get(byUrl), 'other pages stay');
  // And purges at the new one, by the command and by a change: the old one has no page any more.
  assert.equal((await sluice.cli(['cache', 'purge', '--url', byUrl])).code, 0);
  assert.notEqual(text(await over(toRead, byUrl)), old.get(byUrl));
  assert.equal((await ask(sluice, byTag, { method: 'POST' })).status, 200);
  assert.notEqual(text(await over(toReadTag, byTag)), old.get(byTag));
});

void test('an old gateway that is killed while it finishes costs the new one no page', async (t) => {
  const sluice = await pages(t, keep, long);
  const first = await sluice.gatewayPid();
  const open = await RawConnection.connect(sluice.port);
  open.send(bytesOf('/stream?ms=20000'));
  await eventually(async () => (await sluice.status()).requests.in_service >= 1, { what: 'a stream' });
  await upgraded(sluice);
  const { body } = await ask(sluice, page);
  process.kill(first, 'SIGKILL');
  await open.untilClosed();
  const again = await ask(sluice, page);
  assert.deepEqual([again.body, did(again).startsWith('Sluice; hit')], [body, true]);
  // The process that a test ends is the one that was killed.
  assert.equal((await sluice.cli(['stop'])).code, 0);
});

void test('a new gateway that dies before it is ready costs the old one no page, and one that dies while it takes over costs all', async (t) => {
  const sluice = await pages(t);
  const { body } = await ask(sluice, page);
  const config = path.join(sluice.dir, 'sluice.toml');
  fs.writeFileSync(config, 'nonsense');
  assert.equal((await sluice.cli(['upgrade'])).code, 1);
  fs.writeFileSync(config, keep);
  assert.deepEqual((await ask(sluice, page)).body, body);
  const failed = await sluice.cli(['upgrade', '--binary', ownApp('dies-at-takeover.js')]);
  assert.equal(failed.code, 1, failed.stdout);
  // It may have served, and purged, for a moment.
  const next = await ask(sluice, page);
  assert.notDeepEqual(next.body, body);
  const again = await ask(sluice, page);
  assert.deepEqual(
    [again.body, did(again).startsWith('Sluice; hit')],
    [next.body, true],
    'the old one caches again',
  );
  assert.equal((await sluice.cli(['cache', 'purge', '--tag', 'one'])).code, 0);
  assert.notDeepEqual((await ask(sluice, page)).body, next.body);
});

void test('a new gateway without a cache takes over from one with a cache, and the other way round', async (t) => {
  const sluice = await pages(t);
  await ask(sluice, page);
  const config = path.join(sluice.dir, 'sluice.toml');
  fs.writeFileSync(config, '[cache]\nenabled = false\n');
  await upgraded(sluice);
  const without = await ask(sluice, page);
  assert.deepEqual([without.status, did(without)], [200, '']);
  await settled(sluice);
  fs.writeFileSync(config, keep);
  await upgraded(sluice);
  assert.match(did(await ask(sluice, page)), /fwd=uri-miss/);
  assert.match(did(await ask(sluice, page)), /; hit; /);
});
