// The graph over HTTP behind the page cache: data for all is cached and purged by path, data of a visitor is not.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Model } from '@sluice/graph';
import { graphTag, httpSource } from '@sluice/graph/wire';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';

interface Served {
  sluice: Sluice;
  /** Addresses for which the app was asked. */
  renders: () => string[];
}

async function served(t: TestContext): Promise<Served> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-graph-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const [data, renders] = [path.join(dir, 'titles.json'), path.join(dir, 'renders')];
  fs.writeFileSync(data, JSON.stringify({ 5: 'Five', 6: 'Six' }));
  fs.writeFileSync(renders, '');
  const sluice = await running(t, {
    entry: ownApp('graph.mjs'),
    workers: 2,
    config: '[cache]\nenabled = true\n',
    env: { DATA_FILE: data, RENDERS_FILE: renders },
  });
  return { sluice, renders: () => fs.readFileSync(renders, 'utf8').split('\n').slice(0, -1) };
}

/** A new visitor's model, whose cache is empty. */
function visitor(sluice: Sluice, cookie = ''): Model {
  return new Model({ source: httpSource(`${sluice.url}/model.json`, { headers: { cookie } }) });
}

const five = 'titles[5].name';
const address = (...paths: unknown[]): string =>
  `/model.json?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`;
const addressOfFive = address(['titles', 5, 'name']);

void test('data for all comes from the cache, until a path or a tag is purged', async (t) => {
  const { sluice, renders } = await served(t);
  assert.equal(await visitor(sluice).getValue(five), 'Five');
  assert.equal(await visitor(sluice, 'user=ann').getValue(five), 'Five');
  assert.equal(renders().length, 1, 'one request of the app for two visitors');

  // A call purges what it has changed, for visitors of whichever worker.
  await visitor(sluice).getValue('titles[6].name');
  await visitor(sluice).call('titles.rename', [5, 'Fifth']);
  assert.equal(await visitor(sluice).getValue(five), 'Fifth');
  assert.equal(renders().length, 3);
  await visitor(sluice).getValue('titles[6].name');
  assert.equal(renders().length, 3, 'the other title is still cached');

  const purges: [name: string, args: string[]][] = [
    ['tag of a title', ['--tag', graphTag(['titles', 5])]],
    ['tag of a branch', ['--tag', graphTag(['titles'])]],
    ['path', ['--prefix', '/model.json']],
    ['address', ['--url', addressOfFive]],
  ];
  for (const [name, args] of purges) {
    const before = renders().length;
    await sluice.cli(['cache', 'purge', ...args]);
    await visitor(sluice).getValue(five);
    await visitor(sluice).getValue(five);
    assert.equal(renders().length, before + 1, name);
  }
});

void test('tags stay in the gateway, and a validator of cached data is answered by it', async (t) => {
  const { sluice, renders } = await served(t);
  const first = await fetch(sluice.url + addressOfFive);
  assert.equal(first.headers.get('cache-tag'), null);
  const etag = first.headers.get('etag') ?? '';
  assert.match(etag, /^"[\w-]{27}"$/);
  const again = await fetch(sluice.url + addressOfFive, {
    headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
  });
  assert.equal(again.status, 304);
  assert.match(again.headers.get('cache-status') ?? '', /hit/);
  assert.equal(renders().length, 1);
});

void test('data of a visitor is never cached, alone or beside data for all', async (t) => {
  const { sluice, renders } = await served(t);
  for (const paths of [
    [['me', 'name']],
    [
      ['titles', 5, 'name'],
      ['me', 'name'],
    ],
    [[['titles', 'me'], 'name']],
  ]) {
    const before = renders().length;
    for (const user of ['ann', 'bo', 'ann']) {
      const res = await fetch(sluice.url + address(...paths), { headers: { cookie: `user=${user}` } });
      const { jsonGraph } = (await res.json()) as { jsonGraph: { me: { name: string } } };
      assert.equal(jsonGraph.me.name, user);
      assert.doesNotMatch(res.headers.get('cache-status') ?? '', /hit|stored|collapsed/);
    }
    assert.equal(renders().length, before + 3);
  }
  const both = await Promise.all(
    ['ann', 'bo'].map((user) => visitor(sluice, `user=${user}`).get(five, 'me.name')),
  );
  assert.deepEqual(
    both.map((each) => (each?.json['me'] as { name: string } | undefined)?.name),
    ['ann', 'bo'],
  );
});
