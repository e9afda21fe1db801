// The graph of pages on the server: their state, visitors apart, clients that leave, and the hooks of React 19.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonGraph, Model, ref } from '../../src/index.js';
import { pick } from '../../src/page/pick.js';
import { createPageGraph } from '../../src/page/server.js';
import { catalogue, hooksOnServer, page, sourceOf, type Title } from './hooks.js';

hooksOnServer('19');

void test('the state has what components have read, the browser asks for nothing, and text cannot break out', async () => {
  const evil = '</script><script>alert(1)</script><!-- \u2028';
  const source = sourceOf(catalogue(evil));
  const graph = createPageGraph({ source });
  // Known to the model, and read by no component.
  await graph.model.get('titles[100].secret');
  await page(graph, 3);
  const script = graph.script();
  assert.doesNotMatch(script.slice(1, -1).replace(/<\/script$/u, ''), /[<\u2028\u2029]/u);
  assert.doesNotMatch(script, /not asked for/u);
  const json = /^<script type="application\/json" data-sluice-graph>(.*)<\/script>$/su.exec(script)?.[1];
  const browser = new Model({ source: sourceOf({}) });
  browser.merge({ jsonGraph: JSON.parse(json ?? '') as JsonGraph });
  const { json: values, missing } = browser.read<{ list: Record<number, Title> }>(
    'list[0..2]["name","price"]',
  );
  assert.deepEqual(missing, []);
  assert.deepEqual(values?.list[2], { name: `${evil} 2`, price: 2 });
  assert.notEqual(browser.read('list[3].name').missing.length, 0);
});

void test('a nonce stands on the script, and what is none is refused', () => {
  const graph = createPageGraph({ cache: { a: 1 } });
  assert.match(
    graph.script('abcdefgh12=='),
    /^<script type="application\/json" data-sluice-graph nonce="abcdefgh12==">\{\}</u,
  );
  assert.throws(() => graph.script('"><b>'), TypeError);
});

void test('pages that are rendered at the same time have their own values', async () => {
  const visitors = Array.from({ length: 20 }, (_, visitor) => visitor);
  const pages = await Promise.all(
    visitors.map((visitor) => page(createPageGraph({ source: sourceOf(catalogue(`of ${visitor};`)) }), 5)),
  );
  for (const visitor of visitors) {
    const of = Array.from(pages[visitor]?.matchAll(/of (\d+);/gu) ?? [], ([, found]) => Number(found));
    assert.equal(of.length, 5);
    assert.ok(of.every((found) => found === visitor));
  }
});

void test('a part of a graph follows references to their end, and stops in loops', () => {
  const graph: JsonGraph = {
    a: ref(['b']),
    b: { c: ref(['d', 'e']) },
    d: { e: { f: 1, g: 2 } },
    loop: ref(['loop2']),
    loop2: ref(['loop']),
    __proto__x: 1,
  };
  assert.deepEqual(
    JSON.parse(
      JSON.stringify(
        pick(graph, [
          ['a', 'c', 'f'],
          ['nothing', 'there'],
        ]),
      ),
    ),
    {
      a: ref(['b']),
      b: { c: ref(['d', 'e']) },
      d: { e: { f: 1 } },
    },
  );
  assert.deepEqual(JSON.parse(JSON.stringify(pick(graph, [['a', null]]))), { a: ref(['b']) });
  assert.deepEqual(JSON.parse(JSON.stringify(pick(graph, [['loop', 'x']]))), {
    loop: ref(['loop2']),
    loop2: ref(['loop']),
  });
  const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":2}}') as JsonGraph;
  const picked = pick(hostile, [
    ['__proto__', 'polluted'],
    ['constructor', 'x'],
    ['toString', 'x'],
  ]);
  assert.equal(JSON.stringify(picked), '{"__proto__":{"polluted":1},"constructor":{"x":2}}');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});
