// Components that read the graph on the server: requests by level, state of the page, errors, visitors apart.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import * as sluice from '@sluice/react/server';
import { createPages, createRegistry } from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement, Suspense } from 'react';
import * as dom from 'react-dom/server';
import { atom, type DataSource, error, type JsonGraph, Model, type PathSet, ref } from '../../src/index.js';
import { pick } from '../../src/page/pick.js';
import { createPageGraph, type PageGraph } from '../../src/page/server.js';
import { GraphProvider, useGraph } from '../../src/react/index.js';

const TITLES = 60;

/** Graph of a list whose titles lie behind references. */
function catalogue(name = 'Title'): JsonGraph {
  const list: Record<string, ReturnType<typeof ref>> = {};
  const titles: Record<string, JsonGraph> = {};
  for (let at = 0; at < TITLES; at += 1) {
    list[at] = ref(['titles', 100 + at]);
    titles[100 + at] = { name: `${name} ${at}`, price: at, secret: 'not asked for' };
  }
  return { list, titles };
}

interface Counted extends DataSource {
  readonly asked: (readonly PathSet[])[];
}

/** Source that answers a turn later, what was asked for and no more. */
function sourceOf(graph: JsonGraph): Counted {
  const asked: (readonly PathSet[])[] = [];
  return {
    asked,
    async get(paths) {
      asked.push(paths);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return { jsonGraph: pick(graph, paths), paths };
    },
  };
}

interface Title {
  readonly name: string;
  readonly price: number;
}

function Row({ at }: { readonly at: number }): ReactElement {
  const title = useGraph<{ list: Record<number, Title> }>(['list', at, ['name', 'price']])?.list[at];
  return createElement('li', null, `${title?.name}: ${title?.price}`);
}

async function stream(renderer: typeof dom, element: ReactElement): Promise<string> {
  const out = new PassThrough();
  const html = text(out);
  await new Promise<void>((resolve, reject) => {
    const { pipe } = renderer.renderToPipeableStream(element, {
      onAllReady: () => {
        pipe(out);
        resolve();
      },
      onShellError: reject,
      onError: () => undefined,
    });
  });
  return html;
}

const rows = Array.from({ length: TITLES }, (_, at) =>
  createElement(Suspense, { key: at, fallback: '…' }, createElement(Row, { at })),
);

for (const [name, renderer] of [
  ['react-dom', dom],
  ['@sluice/react', sluice as unknown as typeof dom],
] as const) {
  void test(`${name}: components that ask apart share a request`, async () => {
    const source = sourceOf(catalogue());
    const graph = createPageGraph({ source });
    const html = await graph.run(() => stream(renderer, createElement('ul', null, rows)));
    assert.equal(source.asked.length, 1);
    for (let at = 0; at < TITLES; at += 1)
      assert.ok(html.includes(`<li>Title ${at}: ${at}</li>`), `row ${at}`);
  });

  void test(`${name}: what reads a value to ask for the next makes one request for each level`, async () => {
    const source = sourceOf({ me: { favourite: 101 }, ...catalogue() });
    const Favourite = (): ReactElement => {
      const id = useGraph<{ me: { favourite: number } }>('me.favourite')?.me.favourite ?? -1;
      const titles = useGraph<{ titles: Record<number, Title> }>(['titles', id, 'name'])?.titles;
      return createElement('b', null, titles?.[id]?.name);
    };
    const graph = createPageGraph({ source });
    const two = createElement('p', null, createElement(Favourite), createElement(Favourite));
    const html = await graph.run(() => stream(renderer, two));
    assert.equal(html, '<p><b>Title 1</b><b>Title 1</b></p>');
    assert.equal(source.asked.length, 2);
  });

  void test(`${name}: an error of the graph reaches the boundary, and nothing is asked twice`, async () => {
    const source = sourceOf({ ...catalogue(), list: { 0: error('gone') } });
    const failing = createElement(Suspense, { fallback: 'fallback' }, createElement(Row, { at: 0 }));
    const graph = createPageGraph({ source });
    const html = await graph.run(() => stream(renderer, createElement('div', null, failing)));
    assert.match(html, /<!--\$!-->.*fallback/su);
    assert.equal(source.asked.length, 1);
  });

  void test(`${name}: a source that fails is asked once, and its error is the component's`, async () => {
    let calls = 0;
    const source: DataSource = {
      get: () => {
        calls += 1;
        return Promise.reject(new Error('the source is down'));
      },
    };
    const graph = createPageGraph({ source });
    await assert.rejects(
      graph.run(() => stream(renderer, createElement('ul', null, createElement(Row, { at: 0 })))),
      /the source is down/u,
    );
    assert.equal(calls, 1);
  });
}

/** A page of boxes of `@sluice/render`, each of which asks by itself. */
async function page(graph: PageGraph, count = TITLES): Promise<string> {
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Row', Row);
  const pages = createPages({ registry });
  const boxes = Array.from({ length: count }, (_, at) => ({ component: 'Row', props: { at } }));
  return graph.run(async () => {
    const { body } = await pages.render({ boxes }, {}, { delivery: 'whole' });
    return typeof body === 'string' ? body : text(body);
  });
}

void test('60 boxes of a page that ask apart make one request', async () => {
  for (const warm of [false, true]) {
    const source = sourceOf(catalogue());
    const html = await page(createPageGraph({ source }));
    for (let at = 0; at < TITLES; at += 1) assert.ok(html.includes(`Title ${at}: ${at}`), `row ${at}`);
    assert.equal(source.asked.length, 1, `warm: ${warm}`);
  }
});

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

void test('values that expire at once are shown to those who waited for them', async () => {
  const source = sourceOf({ list: { 0: { name: atom('once', { $expires: 0 }), price: 1 } } });
  const html = await createPageGraph({ source }).run(() => stream(dom, createElement(Row, { at: 0 })));
  assert.equal(html, '<li>once: 1</li>');
  assert.equal(source.asked.length, 1);
});

void test('a provider gives a branch, and what is read below it is in the state', async () => {
  const source = sourceOf(catalogue());
  const graph = createPageGraph({ source });
  const envelope = await graph.model.get<{ list: Record<number, Title> }>('list[1].name');
  const Name = (): ReactElement => createElement('i', null, useGraph<{ price: number }>('price')?.price);
  const model = graph.model.deref(envelope?.json.list[1]);
  const html = await graph.run(() =>
    stream(dom, createElement(GraphProvider, { model }, createElement(Name))),
  );
  assert.equal(html, '<i>1</i>');
  assert.match(graph.script(), /\{"titles":\{"101":\{"price":1\}\}\}/u);
});

void test('a component without a model says what to do', () => {
  assert.throws(() => dom.renderToString(createElement(Row, { at: 0 })), /GraphProvider/u);
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
