// What a page asks for, gets and reads, what comes twice, and what browsers ask for again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DataSource, Model, ref } from '../../src/index.js';
import { startGraph } from '../../src/page/browser.js';
import { createPageGraph } from '../../src/page/server.js';
import { route, Router } from '../../src/router/index.js';
import { graphHandler, httpSource } from '../../src/wire/index.js';
import { seen } from './support.js';

/** Routes of which the second gives more than it is asked for. */
function shop(): Router {
  return new Router([
    route('list[{integers:places}]', {
      get: ({ places }) =>
        places.map((place) => ({ path: ['list', place], value: ref(['titles', place + 10]) })),
    }),
    route('titles[{integers:ids}]["name", "price"]', {
      get: ({ ids, 2: fields }) =>
        ids.flatMap((id) =>
          fields.map((field) => ({ path: ['titles', id, field], value: `${field} ${id}` })),
        ),
    }),
  ]);
}

for (const isStream of [false, true]) {
  const way = isStream ? 'in parts' : 'whole';
  void test(`a page is told once, with what it asked for and what no component read (${way})`, async () => {
    await seen(async (receiver) => {
      const graph = createPageGraph({ source: shop().asDataSource(undefined, { isStream }) });
      // A handler asks for prices, too; the components show names.
      graph.noteRead(graph.model, ['list[0..2].name']);
      await graph.model.get('list[0..2].name', 'list[0..2].price');
      assert.match(graph.script(), /data-sluice-graph="counted">/);
      assert.match(graph.script(), /name 12/);
      assert.equal(receiver.uses.length, 1);
      const { pages, requests, fetches } = receiver.uses[0] ?? assert.fail();
      assert.deepEqual([pages, requests, fetches], [1, 1, 0]);
      assert.deepEqual(receiver.paths(), {
        'list[{integers}].name': { asked: 3 },
        'list[{integers}].price': { asked: 3 },
        'list[{integers}]': { brought: 3 },
        'titles[{integers}].name': { brought: 3 },
        'titles[{integers}].price': { brought: 3, unread: 3 },
      });
    });
  });
}

void test('a value that a later answer of the page brings once more counts as sent again', async () => {
  await seen(async (receiver) => {
    const graph = createPageGraph({ source: shop().asDataSource() });
    graph.noteRead(graph.model, ['titles[10].name', 'titles[11].name']);
    await graph.model.get('titles[10].name');
    graph.model.invalidate('titles[10].name');
    await graph.model.get('titles[10..11].name');
    graph.script();
    assert.deepEqual(receiver.paths(), { 'titles[{integers}].name': { asked: 3, brought: 2, again: 1 } });
    assert.equal(receiver.uses[0]?.requests, 2);
  });
});

void test('sources keep their functions and their failures, and what is no answer is refused by the model', async () => {
  await seen(async (receiver) => {
    const failing: DataSource = { get: async () => Promise.reject(new Error('down')) };
    const graph = createPageGraph({ source: failing });
    await assert.rejects(graph.model.get('a.b'), /down/);
    const empty = createPageGraph({ source: { get: async () => undefined as never } });
    await assert.rejects(empty.model.get('a.b'));
    empty.script();
    assert.equal(receiver.uses.length, 1);
    class Own implements DataSource {
      readonly #value = 7;
      async get() {
        return { jsonGraph: { a: this.#value } };
      }
      async set() {
        return { jsonGraph: { a: this.#value + 1 }, paths: [['a']] };
      }
    }
    const own = createPageGraph({ source: new Own() });
    await own.model.setValue('a', 3);
    assert.equal(await own.model.getValue('a'), 8);
  });
});

void test('without a receiver pages are as they were', async () => {
  const graph = createPageGraph({ source: shop().asDataSource() });
  graph.noteRead(graph.model, ['titles[10].name']);
  await graph.model.get('titles[10].name');
  assert.match(graph.script(), /^<script type="application\/json" data-sluice-graph>\{/);
});

const base = 'http://a.example/model.json';

async function asked(router: Router, paths: readonly unknown[], held?: string): Promise<number> {
  const url = `${base}?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`;
  const headers = held === undefined ? {} : { 'sluice-graph-held': held };
  return (await graphHandler(router).fetch(new Request(url, { headers })))?.status ?? 0;
}

void test('requests over the network are counted, and what clients say of them is not believed beyond what they ask', async () => {
  await seen(async (receiver) => {
    const router = shop();
    const paths = [
      ['titles', { to: 1 }, 'name'],
      ['titles', 5, 'price'],
    ];
    assert.equal(await asked(router, paths), 200);
    assert.deepEqual([receiver.uses[0]?.fetches, receiver.uses[0]?.pages], [1, 0]);
    assert.deepEqual(receiver.paths(), {
      'titles[{integers}].name': { fetched: 2 },
      'titles[{integers}].price': { fetched: 1 },
    });
    await asked(router, paths, '1');
    assert.deepEqual(receiver.paths()['titles[{integers}].price'], { fetched: 1, again: 1 });
    for (const hostile of ['0,0,0,0', '-1', '1e3', '0,', 'x', '9999', `${'0,'.repeat(5_000)}0`]) {
      await asked(router, paths, hostile);
      const again = Object.values(receiver.paths()).reduce((sum, row) => sum + (row.again ?? 0), 0);
      assert.equal(again, hostile === '0,0,0,0' ? 2 : 0, hostile);
    }
    const { length } = receiver.uses;
    // What the router refuses counts nowhere, and costs nothing.
    assert.equal(await asked(router, [['titles', { to: 999_999_999 }, 'name']]), 413);
    assert.equal(receiver.uses.length, length);
  });
});

void test('a client who asks for all there is does not blind the counts of pages', async () => {
  await seen(async (receiver) => {
    const names = Array.from({ length: 14 }, (_, at) => `field${at}`);
    const set = JSON.stringify(names);
    const router = new Router([{ route: `${set}${set}${set}`, get: () => [] }]);
    assert.equal(await asked(router, [[names, names, names]]), 200);
    assert.ok(Object.hasOwn(receiver.paths(), 'other'));
    const graph = createPageGraph({ source: shop().asDataSource() });
    await graph.model.get('titles[0..1].name', 'list[0].field3');
    graph.script();
    const paths = receiver.paths();
    assert.deepEqual(paths['titles[{integers}].name'], { asked: 2, brought: 2, unread: 2 });
    assert.ok(!Object.hasOwn(paths, 'other'), Object.keys(paths).join());
  });
});

interface Sent {
  readonly url: string;
  readonly held: string | null;
}

/** Model of a page whose document has this script, and its requests. */
function opened(attribute: string, address = '/model.json') {
  const sent: Sent[] = [];
  const attributes = new Map([['data-sluice-graph', attribute]]);
  const script = {
    textContent: JSON.stringify({ titles: { 10: { name: 'name 10' } } }),
    getAttribute: (name: string) => attributes.get(name) ?? null,
    removeAttribute: (name: string) => attributes.delete(name),
  };
  const holder = globalThis as { document?: unknown };
  holder.document = Object.assign(new EventTarget(), {
    readyState: 'complete',
    addEventListener: () => undefined,
    querySelectorAll: () => (attributes.size > 0 ? [script] : []),
  });
  const source = httpSource(address, {
    fetch: async (url, { headers }) => {
      sent.push({ url, held: new Headers(headers).get('sluice-graph-held') });
      return Response.json({ jsonGraph: { titles: { 10: { name: 'new', price: 3 } } } });
    },
  });
  try {
    return { model: startGraph({ source }), sent };
  } finally {
    delete holder.document;
  }
}

void test('a browser says what it asks for although its page had it, where the server counts', async () => {
  const { model, sent } = opened('counted');
  assert.equal(await model.getValue('titles[10].name'), 'name 10');
  assert.deepEqual(sent, []);
  model.invalidate('titles[10].name');
  await model.get('titles[10].name');
  model.invalidate('titles[10]');
  await model.get('titles[10].price');
  assert.deepEqual(
    sent.map(({ held }) => held),
    ['0', null],
  );
});

void test('it says nothing where nobody counts, nor to other origins', async () => {
  for (const { model, sent } of [
    opened(''),
    opened('counted', '//other.example/model.json'),
    opened('counted', 'https://other.example/model.json'),
  ]) {
    model.invalidate('titles[10].name');
    await model.get('titles[10].name');
    assert.deepEqual(
      sent.map(({ held }) => held),
      [null],
    );
  }
});

void test('a model alone tells nothing', async () => {
  await seen(async (receiver) => {
    await new Model({ source: { get: async () => ({ jsonGraph: { a: 1 } }) } }).get('a');
    assert.deepEqual([receiver.calls, receiver.uses], [[], []]);
  });
});
