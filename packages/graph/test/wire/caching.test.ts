// What caches may keep of answers, and answers that come in an unusual way.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as getOf, type IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { graphHandler, httpSource, type WireOptions } from '../../src/wire/index.js';
import { RouteError, Router } from '../../src/router/index.js';
import { Model } from '../../src/index.js';
import type { Envelope } from '../../src/types.js';
import { serve, serveGraph, Shop } from './support.js';

const NAME = 'method=get&paths=[["titlesById",3,"name"]]';

function shopRouter(): Router {
  return new Router(new Shop().routes(), { onError: () => undefined });
}

const PUBLIC: WireOptions<unknown> = { cacheControl: 'public, max-age=60' };

void test('If-None-Match takes lists, weak tags and any, for GET and HEAD alike', async (t) => {
  const url = `${await serveGraph(t, shopRouter(), PUBLIC)}?${NAME}`;
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  for (const method of ['GET', 'HEAD'])
    for (const [validators, status] of [
      [etag, 304],
      [`W/${etag}`, 304],
      [`"a", W/"b" ,${etag}`, 304],
      ['*', 304],
      ['"a", "b"', 200],
      [etag.slice(1, -1), 200],
      ['', 200],
      [`"a${etag.slice(1)}`, 200],
    ] as const) {
      const answer = await fetch(url, { method, headers: { 'if-none-match': validators } });
      assert.equal(answer.status, status, `${method} ${validators}`);
      assert.equal(answer.headers.get('etag'), etag);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=60');
      assert.equal(answer.headers.get('vary'), 'Accept, X-Requested-With');
      assert.equal(answer.headers.get('cache-tag'), 'graph:titlesById, graph:titlesById.3');
      const body = await answer.text();
      assert.equal(body === '', method === 'HEAD' || status === 304);
    }
});

void test('answers to those who say who they are stay private, unless a function decides', async (t) => {
  const headers = { authorization: 'Bearer x' };
  const whole = await serveGraph(t, shopRouter(), PUBLIC);
  const own = await fetch(`${whole}?${NAME}`, { headers });
  assert.equal(own.headers.get('cache-control'), 'private, no-cache');
  assert.equal(own.headers.get('cache-tag'), null);
  const decides = await serveGraph(t, shopRouter(), { cacheControl: () => 'public, max-age=60' });
  const shared = await fetch(`${decides}?${NAME}`, { headers });
  assert.equal(shared.headers.get('cache-control'), 'public, max-age=60');
});

void test('what is sent by POST is kept nowhere, and is never answered from a cache', async (t) => {
  const url = await serveGraph(t, shopRouter(), PUBLIC);
  const jsonGraph = { jsonGraph: { titlesById: { 3: { rating: 4 } } }, paths: [['titlesById', 3, 'rating']] };
  for (const body of [
    { method: 'set', jsonGraph: JSON.stringify(jsonGraph) },
    { method: 'call', callPath: '["lists","mine","push"]', arguments: '[7]' },
    { method: 'get', paths: '[["titlesById",3,"name"]]' },
  ]) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'if-none-match': '*' },
      body: new URLSearchParams(body),
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('etag'), null);
    assert.equal(answer.headers.get('cache-tag'), null);
  }
});

void test("the app's own Vary stays", async (t) => {
  const graph = graphHandler(shopRouter(), PUBLIC);
  const origin = await serve(t, (request, response) => {
    response.setHeader('vary', 'Origin');
    return graph.node(request, response);
  });
  const { headers } = await fetch(`${origin}/model.json?${NAME}`);
  assert.equal(headers.get('vary'), 'Origin, Accept, X-Requested-With');
});

const GRAPH = JSON.stringify({ jsonGraph: { a: 'ü</script>' } });
const PART = JSON.stringify({ jsonGraph: { a: 'ü' }, paths: [['a']] });

void test('answers of other servers may begin with a mark of order, be compressed, and have empty lines', async (t) => {
  const answers: Record<string, [type: string, bytes: Buffer, encoding?: string]> = {
    '/bom': ['application/json', Buffer.from(`\uFEFF${GRAPH}`)],
    '/gzip': ['application/json', gzipSync(GRAPH), 'gzip'],
    '/parts': ['application/x-ndjson', gzipSync(`\uFEFF${PART}\r\n\n \n{"end":true}\n`), 'gzip'],
  };
  const origin = await serve(t, (request, response) => {
    const [type, bytes, encoding] = answers[new URL(request.url ?? '', 'http://x').pathname] ?? [
      '',
      Buffer.of(),
    ];
    response.setHeader('content-type', type);
    if (encoding !== undefined) response.setHeader('content-encoding', encoding);
    response.end(bytes);
  });
  for (const path of Object.keys(answers)) {
    const model = new Model({ source: httpSource(origin + path, { isStream: path === '/parts' }) });
    assert.match(String(await model.getValue('a')), /^ü/u, path);
  }
});

void test('a stream that ends within a line, in a character, or before its end is an error with a code', async (t) => {
  const cuts = [PART.slice(0, 20), `${PART}\n${PART.slice(0, 9)}`, `${PART}\n`, ''];
  const bytes = cuts.map((text) => Buffer.from(text));
  const whole = Buffer.from(PART);
  bytes.push(whole.subarray(0, whole.indexOf('ü') + 1));
  let at = 0;
  const origin = await serve(t, (_request, response) => {
    response.setHeader('content-type', 'application/x-ndjson');
    response.end(bytes[at]);
  });
  for (; at < bytes.length; at += 1) {
    const model = new Model({ source: httpSource(origin, { isStream: true }) });
    await assert.rejects(
      model.get('a', 'b'),
      (error) => error instanceof RouteError && error.code === 'SLU-GRAPH-SOURCE' && error.statusCode === 502,
      String(bytes[at]),
    );
  }
});

void test('a client who reads slowly gets all of a huge answer, line by line and whole', async (t) => {
  const ROWS = 300;
  const valueOf = (row: number): string => String(row).padStart(50_000, 'ü');
  const router = new Router([
    {
      route: 'rows[{integers:rows}]',
      async *get() {
        for (let row = 0; row < ROWS; row += 1) {
          yield { path: ['rows', row], value: valueOf(row) };
          if (row % 50 === 0) await turn();
        }
      },
    },
  ]);
  const url = await serveGraph(t, router);
  const paths = encodeURIComponent(JSON.stringify([['rows', { to: ROWS - 1 }]]));
  for (const accept of ['application/x-ndjson', 'application/json']) {
    const asking = getOf(`${url}?method=get&paths=${paths}`, { headers: { accept } });
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      await turn();
    }
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
    const parts = lines.map((line) => JSON.parse(line) as Partial<Envelope>);
    const rows = parts.flatMap(({ jsonGraph = {} }) => Object.entries(jsonGraph['rows'] ?? {}));
    assert.equal(rows.length, ROWS);
    for (const [row, value] of rows) assert.equal(value, valueOf(Number(row)));
    if (accept.endsWith('ndjson')) assert.deepEqual(parts.at(-1), { end: true });
  }
});

void test('a body with a mark of order is read', async (t) => {
  const url = await serveGraph(t, shopRouter());
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `\uFEFF${JSON.stringify({ method: 'get', paths: [['titlesById', 3, 'name']] })}`,
  });
  const { jsonGraph } = (await answer.json()) as Envelope;
  assert.deepEqual(jsonGraph, { titlesById: { 3: { name: 'Title 3 ü' } } });
});
