// Fragments as boxes: their marks, what the browser gets of their props, and the head of the host's pages.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { PlainView } from '../../src/adapters/plain.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { toFetch } from '../../src/http/fetch.js';
import { createRegistry } from '../../src/registry/registry.js';
import { resultOf } from '../support/serve.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-boxes-'));
test.after(() => fs.rmSync(folder, { recursive: true }));
fs.writeFileSync(path.join(folder, 'card.css'), '.card { content: "</style>" }');
const assets = path.join(folder, 'sluice-assets.json');
fs.writeFileSync(
  assets,
  JSON.stringify({
    runtime: '/assets/sluice-1.js',
    components: {
      Card: { js: ['/assets/Card-1.js'], css: ['card.css'] },
      Other: { js: [], css: ['card.css'] },
    },
    early: { code: 'early()', sha256: '' },
  }),
);

const registry = createRegistry();
const card: PlainView<{ title?: unknown }> = ({ title }, { id }) => `<p id="${id}">${String(title)}</p>`;
registry.register('Card', card, {
  hydration: 'visible',
  props: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value: { title: String((value as { title?: unknown }).title) } }),
    },
  },
});
registry.register('Static', () => '<b>bare</b>', { rendering: 'static' });
registry.register('Client', () => 'never', { rendering: 'client', placeholder: '<i>soon</i>' });
registry.register('Fails', () => {
  throw new Error('no');
});

async function htmlOf(name: string, data: object = {}): Promise<string> {
  const answer = await createFragments({ registry, assets }).batch({ a: { name, data } });
  return String(resultOf(answer, 'a').html).replaceAll(/\bf[0-9a-f]{16}\b/g, 'ID');
}

void test('a fragment is a box, whose props are those that its schema returned', async () => {
  const html = await htmlOf('Client', { a: '</script>' });
  assert.equal(
    html,
    '<sluice-box n="Client" i="ID" a="plain" on="load" hole="client"><i>soon</i></sluice-box>' +
      '<script type="application/json" data-sluice="ID">{"a":"\\u003c/script>"}</script>',
  );
  assert.equal(
    await htmlOf('Card', { title: 'x', secret: 1 }),
    '<sluice-box n="Card" i="ID" a="plain" on="visible"><p id="ID">x</p></sluice-box>' +
      '<script type="application/json" data-sluice="ID">{"title":"x"}</script>',
  );
  assert.equal(await htmlOf('Static'), '<b>bare</b>');
});

void test('each has an id of its own, of which its component makes others', async () => {
  const own = createRegistry();
  const shown: PlainView = (_props, { id }) => `<p id="${id}"></p>`;
  own.register('Id', shown, { cacheKey: () => 'one' });
  const fragments = createFragments({ registry: own, assets });
  const { results } = await fragments.batch({ a: { name: 'Id' }, b: { name: 'Id' } });
  const found = Object.values(results).map(({ html }) =>
    /i="(\w+)".*<p id="(\w+)">.*data-sluice="(\w+)"/.exec(String(html))?.slice(1),
  );
  for (const ids of found) assert.equal(new Set(ids).size, 1);
  assert.notDeepEqual(found[0], found[1]);
});

void test('props that cannot be sent fail the job, and no other', async () => {
  const own = createRegistry();
  own.register('Makes', () => '', {
    props: {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ value: { run: () => undefined } }) },
    },
  });
  own.register('Fine', () => 'fine');
  const answer = await createFragments({ registry: own, assets }).batch({
    a: { name: 'Makes' },
    b: { name: 'Fine' },
  });
  assert.equal(resultOf(answer, 'a').success, false);
  assert.match(String(resultOf(answer, 'b').html), /fine/);
});

void test('the head has all styles once and the runtime, with a nonce where one is wanted', async () => {
  const fragments = createFragments({ registry, assets });
  const head = fragments.head();
  assert.match(
    head,
    /^<style>sluice-box,sluice-slot\{display:contents\}\n\.card \{ content: "\\3c \/style>" \}<\/style><script>early\(\)<\/script>/,
  );
  assert.match(head, /<script type="module" async src="\/assets\/sluice-1\.js"><\/script>$/);
  assert.equal(fragments.head('abcdefgh').match(/ nonce="abcdefgh"/g)?.length, 4);
  assert.throws(() => fragments.head('"'), TypeError);
  const asked = await toFetch(fragments.handle)(new Request('http://shop.test/batch/head'));
  assert.deepEqual(
    [asked.status, await asked.text(), asked.headers.get('cache-control')],
    [200, head, 'public, max-age=60'],
  );
  assert.equal(createFragments({ registry }).head(), '');
  assert.equal(
    (await toFetch(createFragments({ registry }).handle)(new Request('http://shop.test/batch/head'))).status,
    404,
  );
});

void test('markup of the app and boxes exclude each other', () => {
  assert.throws(
    () => createFragments({ registry, assets, markup: (_component, html) => html }),
    /remove `markup` or `assets`/,
  );
});
