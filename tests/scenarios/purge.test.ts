// Purges from the app: `purge` of `@sluice/preload` and of `@sluice/react`. They reach pages, and the parts of pages that each worker keeps.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';

interface Shop {
  sluice: Sluice;
  /** What parts show from now on. */
  set(data: string): void;
}

async function shop(
  t: TestContext,
  { workers = 2, env = {}, config = '', cache = true } = {},
): Promise<Shop> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-purge-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const data = path.join(dir, 'data');
  const set = (text: string): void => fs.writeFileSync(data, text);
  set('old');
  const sluice = await running(t, {
    entry: ownApp('purging.mjs'),
    workers,
    config: `${config}${cache ? '[cache]\nenabled = true\n' : ''}`,
    env: { DATA_FILE: data, ...env },
  });
  return { sluice, set };
}

interface Page {
  body: string;
  how: string;
}

async function get({ sluice }: Shop, target: string): Promise<Page> {
  const answer = await fetch(`${sluice.url}${target}`);
  assert.equal(answer.headers.get('x-sluice-tags'), null);
  return { body: await answer.text(), how: answer.headers.get('cache-status') ?? '' };
}

async function purge({ sluice }: Shop, pages: object): Promise<string> {
  const query = encodeURIComponent(JSON.stringify(pages));
  return (await fetch(`${sluice.url}/purge?pages=${query}`, { method: 'POST' })).text();
}

async function tagsOf({ sluice }: Shop, target: string): Promise<string[]> {
  const { stdout } = await sluice.cli(['cache', 'show', `${sluice.url}${target}`, '--json']);
  return (JSON.parse(stdout) as { kept: { tags: string[] }[] }).kept.flatMap(({ tags }) => tags);
}

for (const react of ['fast', 'stock']) {
  void test(`a purge by tag reaches the page and its parts in all workers (${react} react-dom)`, async (t) => {
    const shop_ = await shop(t, { workers: 3, config: react === 'fast' ? 'react = "fast"\n' : '' });
    // Each worker has rendered the part.
    for (let at = 0; at < 12; at += 1)
      assert.match((await get(shop_, `/part?tag=p1&at=${at}`)).body, /p1=old/);
    assert.deepEqual(await tagsOf(shop_, '/part?tag=p1&at=3'), ['p1']);
    assert.match((await get(shop_, '/part?tag=p1&at=3')).how, /hit/);
    await get(shop_, '/part?tag=p2');
    shop_.set('new');
    assert.equal(await purge(shop_, { tag: 'p1' }), '12');
    const bodies = await Promise.all(
      Array.from({ length: 30 }, (_, at) => get(shop_, `/part?tag=p1&at=${at % 15}`)),
    );
    for (const { body } of bodies) assert.match(body, /p1=new/);
    assert.match((await get(shop_, '/part?tag=p2')).how, /hit/, 'another tag');
  });
}

void test('a purge by tag reaches pages of boxes, and the HTML that their components have cached in all workers', async (t) => {
  const shop_ = await shop(t, { workers: 2 });
  for (let at = 0; at < 8; at += 1) assert.match((await get(shop_, `/boxes?tag=b1&at=${at}`)).body, /b1=old/);
  // Whether its HTML was rendered for the page or came from the component's cache.
  for (let at = 0; at < 8; at += 1) assert.deepEqual(await tagsOf(shop_, `/boxes?tag=b1&at=${at}`), ['b1']);
  shop_.set('new');
  // Another page of the same HTML.
  assert.match((await get(shop_, '/boxes?tag=b1&at=3')).how, /hit/);
  assert.equal(await purge(shop_, { tag: 'b1' }), '8');
  for (let at = 0; at < 12; at += 1)
    assert.match((await get(shop_, `/boxes?tag=b1&at=${at}`)).body, /b1=new/);
});

void test('a purge by URL or prefix from the app reaches the HTML of components in all workers, with the page cache or without', async (t) => {
  const withCache = await shop(t, { workers: 2 });
  const without = await shop(t, { workers: 2, cache: false });
  for (const shop_ of [withCache, without]) {
    for (const [pages, tag] of [
      [{ url: '/boxes/1?tag=b1' }, 'b1'],
      [{ prefix: '/boxes/' }, 'b2'],
    ] as const) {
      shop_.set('old');
      // Each worker has the HTML, from pages at other paths.
      for (let at = 0; at < 8; at += 1)
        assert.match((await get(shop_, `/boxes/list?tag=${tag}&at=${at}`)).body, new RegExp(`${tag}=old`));
      if (shop_ === withCache) {
        await get(shop_, `/boxes/1?tag=${tag}`);
        assert.match((await get(shop_, `/boxes/1?tag=${tag}`)).how, /hit/);
      }
      shop_.set('new');
      await purge(shop_, pages);
      assert.match((await get(shop_, `/boxes/1?tag=${tag}`)).body, new RegExp(`${tag}=new`));
      for (let at = 0; at < 12; at += 1)
        assert.match((await get(shop_, `/boxes/1?tag=${tag}&at=${at}`)).body, new RegExp(`${tag}=new`));
    }
  }
});

void test('sluice cache purge by URL or prefix reaches the HTML of components in all workers', async (t) => {
  const shop_ = await shop(t, { workers: 2 });
  for (const [flags, tag] of [
    [['--url', `${shop_.sluice.url}/boxes/1?tag=c1`], 'c1'],
    [['--prefix', '/boxes/'], 'c2'],
  ] as const) {
    shop_.set('old');
    for (let at = 0; at < 8; at += 1)
      assert.match((await get(shop_, `/boxes/list?tag=${tag}&at=${at}`)).body, new RegExp(`${tag}=old`));
    shop_.set('new');
    assert.equal((await shop_.sluice.cli(['cache', 'purge', ...flags])).code, 0);
    for (let at = 0; at < 12; at += 1)
      assert.match((await get(shop_, `/boxes/1?tag=${tag}&at=${at}`)).body, new RegExp(`${tag}=new`));
  }
});

void test('parts that are rendered after the head give the page their tags as well', async (t) => {
  const shop_ = await shop(t, { env: { LAZY: '1' }, config: 'react = "fast"\n' });
  for (const target of ['/streamed?tag=late%20one&ms=100', '/collected?tag=c1', '/part?tag=a,b*%C3%A4']) {
    await get(shop_, target);
    await eventually(async () => (await get(shop_, target)).how.includes('hit'), { what: target });
  }
  assert.deepEqual(await tagsOf(shop_, '/streamed?tag=late%20one&ms=100'), ['late one', 'shell']);
  assert.deepEqual(await tagsOf(shop_, '/collected?tag=c1'), ['c1']);
  assert.deepEqual(await tagsOf(shop_, '/part?tag=a,b*%C3%A4'), ['a,b*ä']);
  assert.equal(await purge(shop_, { tag: 'late one' }), '1');
  // Purged while the stream goes on, its head with the shell's tags being out.
  const streaming = fetch(`${shop_.sluice.url}/streamed?tag=late%20one&ms=1500`);
  const answer = await streaming;
  assert.equal(await purge(shop_, { tag: 'late one' }), '0');
  assert.match(await answer.text(), /late one=/);
  assert.deepEqual(await tagsOf(shop_, '/streamed?tag=late%20one&ms=1500'), []);
});

void test('`purge` of @sluice/react reaches pages and the other workers', async (t) => {
  const shop_ = await shop(t, { workers: 3, config: 'react = "fast"\n' });
  for (let at = 0; at < 12; at += 1) await get(shop_, `/part?tag=p1&at=${at}`);
  shop_.set('new');
  const answer = await fetch(`${shop_.sluice.url}/purge-parts?tag=p1`, { method: 'POST' });
  assert.equal(await answer.text(), '1', 'entries of that worker');
  const kept = async (): Promise<number> => {
    const { stdout } = await shop_.sluice.cli(['cache', '--json']);
    return (JSON.parse(stdout) as { pages: number }).pages;
  };
  await eventually(async () => (await kept()) === 0);
  for (let at = 0; at < 12; at += 1) assert.match((await get(shop_, `/part?tag=p1&at=${at}`)).body, /p1=new/);
});

void test('a purge from the command line reaches the parts that workers keep, with the page cache or without', async (t) => {
  const withCache = await shop(t, { workers: 2, config: 'react = "fast"\n' });
  for (let at = 0; at < 8; at += 1) await get(withCache, `/part?tag=p1&at=${at}`);
  withCache.set('new');
  assert.equal((await withCache.sluice.cli(['cache', 'purge', '--tag', 'p1'])).stdout, 'purged: 8\n');
  for (let at = 0; at < 8; at += 1)
    assert.match((await get(withCache, `/part?tag=p1&at=${at}`)).body, /p1=new/);
  const without = await shop(t, { workers: 3, cache: false, config: 'react = "fast"\n' });
  for (let at = 0; at < 12; at += 1)
    assert.match((await get(without, `/part?tag=p1&at=${at}`)).body, /p1=old/);
  without.set('new');
  assert.equal(await purge(without, { tag: 'p1' }), '0');
  for (let at = 0; at < 12; at += 1)
    assert.match((await get(without, `/part?tag=p1&at=${at}`)).body, /p1=new/);
});

void test('purges of an app name pages by URL, path, prefix, tag or all, and are refused where they name none', async (t) => {
  const shop_ = await shop(t, { workers: 1 });
  const targets = ['/plain?a=1', '/plain?b=1', '/part?tag=p1', '/plain'];
  for (const target of targets) await get(shop_, target);
  assert.equal(await purge(shop_, { url: `${shop_.sluice.url}/plain?a=1` }), '1');
  assert.equal(await purge(shop_, { url: '/plain?b=1', soft: true }), '1');
  assert.equal(await purge(shop_, { prefix: '/part' }), '1');
  assert.equal(await purge(shop_, { all: true }), '2');
  assert.match(await purge(shop_, {}), /^TypeError: purge needs one of url/);
  assert.match(await purge(shop_, { tag: 'a', all: true }), /^TypeError/);
  assert.match(await purge(shop_, { url: 'plain' }), /^TypeError/);
  // Many at once: batches.
  const counts = await Promise.all(Array.from({ length: 300 }, (_, at) => purge(shop_, { tag: `t${at}` })));
  assert.ok(counts.every((count) => count === '0'));
});

void test('an app without the gateway purges nothing and runs as ever', async (t) => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), DATA_FILE: '/dev/null' };
  const app = execFile(process.execPath, [ownApp('purging.mjs')], { env });
  t.after(() => app.kill('SIGKILL'));
  const ask = (target: string, method: string): Promise<string | undefined> =>
    fetch(`http://127.0.0.1:${port}${target}`, { method }).then(
      (answer) => answer.text(),
      () => undefined,
    );
  assert.match(await eventually(() => ask('/part?tag=p1', 'GET')), /p1=/);
  assert.equal(await ask(`/purge?pages=${encodeURIComponent('{"tag":"p1"}')}`, 'POST'), '0');
  assert.match(String(await ask(`/purge?pages=${encodeURIComponent('{}')}`, 'POST')), /^TypeError/);
  assert.equal(await ask('/purge-parts?tag=p1', 'POST'), '0');
});
