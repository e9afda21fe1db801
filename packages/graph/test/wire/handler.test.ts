// The wire's server: every server that an app has, caches, streams, and requests that no honest client sends.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { fastify } from 'fastify';
import { graphHandler, graphTag, httpSource, type WireOptions } from '../../src/wire/index.js';
import { RouteError, Router, type RouteDefinition } from '../../src/router/index.js';
import type { Envelope } from '../../src/types.js';
import { read } from '../router/support.js';
import { serve, serveGraph, Shop } from './support.js';

const NAME = 'method=get&paths=[["titlesById",3,"name"]]';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SET = new URLSearchParams({
  method: 'set',
  jsonGraph: JSON.stringify({
    jsonGraph: { titlesById: { 3: { rating: 4 } } },
    paths: [['titlesById', 3, 'rating']],
  }),
}).toString();

function shopRouter(): Router {
  return new Router(new Shop().routes(), { onError: () => undefined });
}

/** Status and JSON of an answer. */
async function told(response: Response): Promise<[status: number, code: unknown]> {
  const { code, error } = (await response.json()) as { readonly code?: string; readonly error?: string };
  assert.equal(typeof error, 'string');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return [response.status, code];
}

async function checkServer(origin: string): Promise<void> {
  const got = await fetch(`${origin}/model.json?${NAME}`);
  assert.equal(got.status, 200);
  assert.deepEqual(await got.json(), { jsonGraph: { titlesById: { 3: { name: 'Title 3 ü' } } } });
  const set = await fetch(`${origin}/model.json`, { method: 'POST', headers: FORM, body: SET });
  assert.deepEqual(await set.json(), { jsonGraph: { titlesById: { 3: { rating: 4 } } } });
  const json = await fetch(`${origin}/model.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'get', paths: [['lists', 'mine', 0, 'name']] }),
  });
  assert.equal(read(((await json.json()) as Envelope).jsonGraph, ['lists', 'mine', 0, 'name']), 'Title 3 ü');
  assert.deepEqual(
    await told(
      await fetch(`${origin}/model.json`, { method: 'POST', headers: FORM, body: 'x'.repeat(2_000_000) }),
    ),
    [413, 'SLU-GRAPH-BODY-TOO-LARGE'],
  );
  const parts = await fetch(`${origin}/model.json?${NAME}`, { headers: { accept: 'application/x-ndjson' } });
  assert.equal(parts.headers.get('content-type'), 'application/x-ndjson');
  const lines = (await parts.text()).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => Object.keys(JSON.parse(line) as object)),
    [['jsonGraph', 'paths'], ['end']],
  );
  for (const accept of ['application/json', 'application/x-ndjson']) {
    const head = await fetch(`${origin}/model.json?${NAME}`, { method: 'HEAD', headers: { accept } });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal(head.headers.get('content-type'), 'application/json; charset=utf-8');
  }
  const other = await fetch(`${origin}/other`);
  assert.deepEqual([other.status, await other.text()], [404, 'the app']);
}

void test('node:http serves a graph', async (t) => {
  const graph = graphHandler(shopRouter());
  await checkServer(
    await serve(t, async (request, response) => {
      if (!(await graph.node(request, response))) response.writeHead(404).end('the app');
    }),
  );
});

for (const place of ['before parsers', 'behind parsers'] as const) {
  void test(`Express serves a graph, ${place}`, async (t) => {
    const app = express();
    if (place === 'behind parsers')
      app.use(express.urlencoded({ extended: true, limit: '4mb' }), express.json());
    app.use(graphHandler(shopRouter()).express);
    app.use((_request, response) => void response.status(404).send('the app'));
    const origin = await serve(t, app);
    if (place === 'before parsers') await checkServer(origin);
    else {
      const set = await fetch(`${origin}/model.json`, { method: 'POST', headers: FORM, body: SET });
      assert.deepEqual(await set.json(), { jsonGraph: { titlesById: { 3: { rating: 4 } } } });
    }
  });
}

void test('Fastify serves a graph', async (t) => {
  const app = fastify();
  app.addHook('onRequest', graphHandler(shopRouter()).fastify);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('the app'));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  await checkServer(origin);
});

void test('a handler of Fetch serves a graph', async (t) => {
  const graph = graphHandler(shopRouter());
  const respond = async (request: Request): Promise<Response> =>
    (await graph.fetch(request)) ?? new Response('the app', { status: 404 });
  const real = globalThis.fetch;
  t.after(() => {
    globalThis.fetch = real;
  });
  globalThis.fetch = async (url, init) => respond(new Request(url, init));
  await checkServer('http://shop.test');
});

void test('answers to GET have an ETag, and tags where shared caches may keep them', async (t) => {
  let name = 'first';
  const routes: RouteDefinition[] = [
    {
      route: 'titles[{keys:ids}].name',
      get: (match) => ({ path: ['titles', match['ids'] as string[], 'name'], value: name }),
    },
    {
      route: 'bad',
      get: () => {
        throw new Error('bad');
      },
    },
  ];
  const url = await serveGraph(t, new Router(routes, { onError: () => undefined }), {
    cacheControl: (paths) => (JSON.stringify(paths).includes('mine') ? undefined : 'public, max-age=60'),
  });
  const get = (paths: unknown, headers = {}): Promise<Response> =>
    fetch(`${url}?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`, { headers });
  const first = await get([['titles', [5, 'a.b, c'], 'name']]);
  const etag = first.headers.get('etag') ?? '';
  assert.match(etag, /^"[\w-]{27}"$/);
  assert.equal(first.headers.get('cache-control'), 'public, max-age=60');
  assert.equal(
    first.headers.get('vary'),
    'Accept, X-Requested-With',
    'clients of the protocol send the second',
  );
  assert.equal(first.headers.get('cache-tag'), 'graph:titles, graph:titles.5, graph:titles.a%2Eb%2C%20c');
  assert.equal(graphTag(['titles', 'a.b, c']), 'graph:titles.a%2Eb%2C%20c');
  const same = await get([['titles', [5, 'a.b, c'], 'name']], { 'if-none-match': `"other", W/${etag}` });
  assert.deepEqual([same.status, await same.text(), same.headers.get('etag')], [304, '', etag]);
  name = 'second';
  const changed = await get([['titles', [5, 'a.b, c'], 'name']], { 'if-none-match': etag });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), etag);
  const own = await get([['titles', 'mine', 'name']]);
  assert.deepEqual(
    [own.headers.get('cache-control'), own.headers.get('cache-tag')],
    ['private, no-cache', null],
  );
  const failed = await get([['bad']]);
  assert.deepEqual([failed.headers.get('cache-control'), failed.headers.get('etag')], ['no-store', null]);
});

void test('an answer for shared caches can be purged by each of its tags, or is private', async (t) => {
  const routes: RouteDefinition[] = [
    {
      route: 'products[{keys:slugs}].name',
      get: ({ slugs }) => (slugs as string[]).map((slug) => ({ path: ['products', slug, 'name'], value: 1 })),
    },
  ];
  const url = await serveGraph(t, new Router(routes), { cacheControl: 'public, max-age=60' });
  const get = async (paths: unknown): Promise<[control: string | null, tags: string[] | undefined]> => {
    const { headers } = await fetch(`${url}?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`);
    assert.match(headers.get('etag') ?? '', /^"[\w-]{27}"$/);
    return [headers.get('cache-control'), headers.get('cache-tag')?.split(', ')];
  };
  // A long page of a listing.
  const slugs = Array.from({ length: 96 }, (_, at) => String(at).padStart(31, 'a'));
  const [control, tags] = await get([['products', slugs, 'name']]);
  assert.equal(control, 'public, max-age=60');
  for (const slug of slugs) assert.ok(tags?.includes(graphTag(['products', slug])), slug);
  // The most tags that Sluice's cache keeps, and one more.
  const short = (count: number): unknown => [['products', { length: count }, 'name']];
  const least = (count: number): unknown => [[[...Array(count).keys()].map((at) => at.toString(36))]];
  assert.equal((await get(least(1_000)))[1]?.length, 1_000);
  assert.deepEqual(await get(least(1_001)), ['private, no-cache', undefined]);
  assert.deepEqual(await get(short(999)), ['private, no-cache', undefined], 'its characters are too many');
  assert.deepEqual(await get([['x'.repeat(3_000)], ['y'.repeat(9_000)]]), ['private, no-cache', undefined]);
});

void test('half a surrogate pair in a key is tagged as what replaces it, and is no error', async (t) => {
  const routes: RouteDefinition[] = [
    {
      route: 'titles[{keys:ids}].name',
      get: ({ ids }) => (ids as string[]).map((id) => ({ path: ['titles', id, 'name'], value: 1 })),
    },
  ];
  const errors: unknown[] = [];
  const url = await serveGraph(t, new Router(routes), {
    cacheControl: 'public, max-age=60',
    onError: (error) => errors.push(error),
  });
  const paths = encodeURIComponent(JSON.stringify([['titles', ['\uD83D', 'a\uDE00b', '\u{1F600}'], 'name']]));
  const { status, headers } = await fetch(`${url}?method=get&paths=${paths}`);
  assert.deepEqual([status, errors], [200, []]);
  const tags = headers.get('cache-tag')?.split(', ').slice(1);
  assert.deepEqual(
    tags,
    ['\uFFFD', 'a\uFFFDb', '\u{1F600}'].map((id) => graphTag(['titles', id])),
  );
  assert.equal(graphTag(['titles', '\uD83D']), 'graph:titles.%EF%BF%BD');
});

void test('parts are sent as routes give them', async (t) => {
  let release: (() => void) | undefined;
  const routes: RouteDefinition[] = [
    { route: 'fast', get: () => ({ path: ['fast'], value: 1 }) },
    {
      route: 'slow',
      get: () =>
        new Promise((resolve) => {
          release = () => resolve({ path: ['slow'], value: 2 });
        }),
    },
  ];
  const source = httpSource(await serveGraph(t, new Router(routes)), { isStream: true });
  const parts: unknown[] = [];
  for await (const part of source.get([['fast'], ['slow']]) as AsyncIterable<Envelope>) {
    parts.push(part);
    // The second part cannot come before the first one was read here.
    release?.();
  }
  assert.deepEqual(parts, [
    { jsonGraph: { fast: 1 }, paths: [['fast']] },
    { jsonGraph: { slow: 2 }, paths: [['slow']] },
  ]);
});

void test('an error after the first part ends the stream with its code', async (t) => {
  const routes: RouteDefinition[] = [
    { route: 'a[{keys:first}].b', get: () => undefined },
    { route: 'start', get: () => ({ path: ['start'], value: 1 }) },
    {
      route: 'list[{integers:places}]',
      get: async (match) => {
        await turn();
        return (match['places'] as number[]).map((place) => ({
          path: ['list', place],
          value: { $type: 'ref', value: ['x', place, `y${place}`] },
        }));
      },
    },
    { route: 'x[{integers}][{keys}].z', get: () => undefined },
  ];
  const url = await serveGraph(t, new Router(routes, { callsMax: 10, onError: () => undefined }));
  const source = httpSource(url, { isStream: true });
  const parts: unknown[] = [];
  await assert.rejects(
    async () => {
      for await (const part of source.get([['start'], ['list', { to: 40 }, 'z']]) as AsyncIterable<Envelope>)
        parts.push(part);
    },
    (error) => error instanceof RouteError && error.code === 'SLU-GRAPH-CALLS',
  );
  assert.deepEqual(parts[0], { jsonGraph: { start: 1 }, paths: [['start']] });
});

void test('a client that leaves ends the routes of its request', async (t) => {
  for (const accept of ['application/json', 'application/x-ndjson']) {
    const aborted = new Promise<void>((resolve) => {
      const router = new Router([
        { route: 'fast', get: () => ({ path: ['fast'], value: 1 }) },
        {
          route: 'slow',
          get: (_match, { signal }) => {
            signal.addEventListener('abort', () => resolve());
            setImmediate(() => client.abort());
            return new Promise(() => undefined);
          },
        },
      ]);
      const client = new AbortController();
      void serveGraph(t, router, { onError: (error) => assert.fail(String(error)) }).then(async (url) => {
        const query = `method=get&paths=${encodeURIComponent('[["fast"],["slow"]]')}`;
        await fetch(`${url}?${query}`, { headers: { accept }, signal: client.signal })
          .then((response) => response.text())
          .catch(() => undefined);
      });
    });
    await aborted;
  }
});

const refused: readonly [name: string, url: string, init: RequestInit, told: [number, string]][] = [
  ['no method', '', {}, [400, 'SLU-GRAPH-INVALID']],
  ['a method that is none', '?method=constructor&paths=[]', {}, [400, 'SLU-GRAPH-INVALID']],
  ['no paths', '?method=get', {}, [400, 'SLU-GRAPH-INVALID']],
  ['paths that are no JSON', '?method=get&paths=[[', {}, [400, 'SLU-GRAPH-INVALID']],
  ['10⁹ keys', '?method=get&paths=[["a",{"to":1000000000}]]', {}, [413, 'SLU-GRAPH-PATHS']],
  ['a set by GET', `?${SET}`, {}, [405, 'SLU-GRAPH-METHOD']],
  [
    'a call by GET',
    '?method=call&callPath=["lists","mine","push"]&arguments=[1]',
    {},
    [405, 'SLU-GRAPH-METHOD'],
  ],
  ['PUT', `?${NAME}`, { method: 'PUT', body: NAME }, [405, 'SLU-GRAPH-METHOD']],
  ['a body without a type', '', { method: 'POST', body: new Uint8Array([1]) }, [415, 'SLU-GRAPH-BODY-TYPE']],
  [
    'a body of text',
    '',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, body: NAME },
    [415, 'SLU-GRAPH-BODY-TYPE'],
  ],
  [
    'a body of another charset',
    '',
    { method: 'POST', headers: { 'content-type': 'application/json; charset=utf-16' }, body: '{}' },
    [415, 'SLU-GRAPH-BODY-TYPE'],
  ],
  [
    'a type that is none',
    '',
    { method: 'POST', headers: { 'content-type': 'a/b/c;;=' }, body: '{}' },
    [415, 'SLU-GRAPH-BODY-TYPE'],
  ],
  [
    'a compressed body',
    '',
    { method: 'POST', headers: { ...FORM, 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(1_000)) },
    [415, 'SLU-GRAPH-BODY-TYPE'],
  ],
  [
    'bytes that are no UTF-8',
    '',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    },
    [400, 'SLU-GRAPH-BODY'],
  ],
  [
    'a body that is no object',
    '',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '[1]' },
    [400, 'SLU-GRAPH-INVALID'],
  ],
  [
    'a list of 200,000 lists',
    '',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"method":"get","paths":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    },
    [400, 'SLU-GRAPH-INVALID'],
  ],
  [
    'a set of no graph',
    '',
    { method: 'POST', headers: FORM, body: 'method=set&jsonGraph=5' },
    [400, 'SLU-GRAPH-INVALID'],
  ],
  [
    'a set without paths',
    '',
    { method: 'POST', headers: FORM, body: 'method=set&jsonGraph={"jsonGraph":{}}' },
    [400, 'SLU-GRAPH-INVALID'],
  ],
  [
    'a call of several functions',
    '',
    { method: 'POST', headers: FORM, body: 'method=call&callPath=["a",{"to":3}]' },
    [400, 'SLU-GRAPH-INVALID'],
  ],
  [
    'a call of no function',
    '',
    { method: 'POST', headers: FORM, body: 'method=call&callPath=["a"]' },
    [404, 'SLU-GRAPH-CALL-UNKNOWN'],
  ],
  [
    'a page of another site',
    '',
    { method: 'POST', headers: { ...FORM, 'sec-fetch-site': 'cross-site' }, body: SET },
    [403, 'SLU-GRAPH-ORIGIN'],
  ],
];
for (const server of ['node', 'fetch'] as const) {
  void test(`requests that no honest client sends get an error with a code, by ${server}`, async (t) => {
    const errors: unknown[] = [];
    const options: WireOptions<unknown> = { onError: (error) => errors.push(error) };
    const url =
      server === 'node' ? await serveGraph(t, shopRouter(), options) : 'http://shop.test/model.json';
    const graph = graphHandler(shopRouter(), options);
    for (const [name, query, init, expected] of refused) {
      const request = new Request(url + query, init);
      const response = server === 'node' ? await fetch(request) : await graph.fetch(request);
      assert.deepEqual(await told(response as Response), expected, name);
      if (expected[0] === 405) assert.equal(response?.headers.get('allow'), 'GET, HEAD, POST');
    }
    assert.deepEqual(errors, []);
  });
}

void test('bodies that break off or are longer than they say end no server', async (t) => {
  const url = await serveGraph(t, shopRouter());
  const { port } = new URL(url);
  const head = 'POST /model.json HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  for (const text of [
    `${head}content-length: 100\r\n\r\n{"method":`,
    `${head}transfer-encoding: chunked\r\n\r\nFFFFFF\r\n{"`,
    `${head}content-length: 99999999999\r\n\r\n{`,
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(text);
    await new Promise((resolve) => {
      socket.once('connect', resolve);
    });
    for (let at = 0; at < 5; at++) await turn();
    socket.destroy();
  }
  assert.equal((await fetch(`${url}?${NAME}`)).status, 200);
});

void test('what the app throws for a request is not told, except its RouteError', async (t) => {
  const errors: unknown[] = [];
  const url = await serveGraph(t, shopRouter(), {
    data: ({ headers }) => {
      if (headers['cookie'] === 'bad') throw new Error('secret of the session store');
      throw new RouteError('Log in', { statusCode: 401, code: 'LOGIN' });
    },
    onError: (error) => errors.push(error),
  });
  assert.deepEqual(await told(await fetch(`${url}?${NAME}`, { headers: { cookie: 'bad' } })), [
    500,
    'SLU-GRAPH-INTERNAL',
  ]);
  assert.deepEqual(await told(await fetch(`${url}?${NAME}`)), [401, 'LOGIN']);
  assert.equal(errors.length, 1);
});

void test('a value that JSON has not ends one request', async (t) => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const errors: unknown[] = [];
  const router = new Router([{ route: 'circle', get: () => ({ path: ['circle'], value: circle }) }]);
  const url = await serveGraph(t, router, { onError: (error) => errors.push(error) });
  assert.deepEqual(await told(await fetch(`${url}?method=get&paths=[["circle"]]`)), [
    500,
    'SLU-GRAPH-INTERNAL',
  ]);
  const stream = await fetch(`${url}?method=get&paths=[["circle"]]`, {
    headers: { accept: 'application/x-ndjson' },
  });
  assert.equal(await stream.text(), '{"error":"Internal error","code":"SLU-GRAPH-INTERNAL"}\n');
  assert.equal(errors.length, 2);
});
