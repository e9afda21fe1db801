// Handlers over Fetch: the same answers as over `node:http`, in Hono and Fastify from npm, with bodies that stream and clients that leave.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fastify from 'fastify';
import { Hono } from 'hono';
import { eventually } from '../../../../tests/support/eventually.js';
import type { PlainView } from '../../src/adapters/plain.js';
import { createFragments } from '../../src/fragments/fragments.js';
import type { Answering } from '../../src/http/answer.js';
import { CATALOGUE, HttpError, type ErrorCode } from '../../src/http/errors.js';
import { responseOf, toFetch } from '../../src/http/fetch.js';
import { createServer, fastifyHook, honoMiddleware, served } from '../../src/http/handler.js';
import { nodeHandler } from '../../src/http/node.js';
import {
  boxResponse,
  pageHandler,
  pageResponse,
  respond,
  respondBox,
  styleHandler,
} from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import type { PageTree } from '../../src/pages/tree.js';
import { registryForTests } from '../pages/support.js';
import { listen, send, serve } from '../support/serve.js';

const registry = registryForTests();
const slow: PlainView<{ ms: number }> = async ({ ms }, { signal }) => {
  await setTimeout(ms, undefined, { signal });
  return '<b>slow</b>';
};
registry.register('Slow', slow);
const pages = createPages({
  registry,
  sources: {
    functions: { fails: () => Promise.reject(new Error('no')), never: () => new Promise(() => {}) },
  },
  onError: () => undefined,
});
const fragments = createFragments({ registry, bytesMax: 10_000, jobsMax: 3 });
const handlers = [fragments.handle, pageHandler(pages, { bytesMax: 10_000 }), styleHandler(pages)];

const json = { 'content-type': 'application/json' };
const needing = (source: string): string =>
  JSON.stringify({ tree: { boxes: [], data: { given: { source, timeoutMs: 50 } } } });
const tree = JSON.stringify({ tree: { boxes: [{ component: 'Text', props: { title: 'é ★' } }] } });
const job = { name: 'Text', data: { title: 'one' } };

interface Case {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly status: number;
  readonly code?: ErrorCode;
}

const cases: readonly Case[] = [
  { path: '/batch', body: JSON.stringify({ a: job }), status: 200 },
  { path: '/batch/?x=1', body: JSON.stringify({ a: { name: 'None' } }), status: 200 },
  { path: '/batch', body: '', status: 200 },
  { path: '/batch', body: '[1]', status: 400 },
  { path: '/batch', body: JSON.stringify({ a: job, b: job, c: job, d: job }), status: 413 },
  { path: '/batch', method: 'GET', status: 404, code: 'SLU-RENDER-NOT-FOUND' },
  { path: '/page', body: tree, status: 200 },
  { path: '/page', body: gzipSync(tree), headers: { ...json, 'content-encoding': 'gzip' }, status: 200 },
  { path: '/page', body: '{"tree":{"boxes":[]},"format":"json"}', status: 200 },
  { path: '/page', body: '{"tree":', status: 400, code: 'SLU-RENDER-BODY-NOT-JSON' },
  { path: '/page', body: '{"tree":{"boxes":[{}]}}', status: 400, code: 'SLU-RENDER-TREE-INVALID' },
  { path: '/page', body: '{"tree":{"boxes":[]},"mode":1}', status: 400, code: 'SLU-RENDER-TREE-INVALID' },
  { path: '/page', body: ' '.repeat(20_000), status: 413, code: 'SLU-RENDER-BODY-TOO-LARGE' },
  {
    path: '/page',
    body: tree,
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'SLU-RENDER-BODY-TYPE',
  },
  {
    path: '/page',
    body: tree,
    headers: { 'content-type': 'application/json; charset=utf-16' },
    status: 415,
    code: 'SLU-RENDER-BODY-CHARSET',
  },
  {
    path: '/page',
    body: tree,
    headers: { ...json, 'content-encoding': 'zstd' },
    status: 415,
    code: 'SLU-RENDER-BODY-ENCODING',
  },
  {
    path: '/page',
    body: tree,
    headers: { ...json, 'content-encoding': 'gzip' },
    status: 400,
    code: 'SLU-RENDER-BODY-UNREADABLE',
  },
  { path: '/page', body: needing('fails'), status: 502, code: 'SLU-RENDER-SOURCE-FAILED' },
  { path: '/page', body: needing('never'), status: 504, code: 'SLU-RENDER-SOURCE-LATE' },
  { path: '/page', method: 'GET', status: 405, code: 'SLU-RENDER-METHOD' },
  { path: '/variants', method: 'GET', status: 200 },
  { path: '/variants', method: 'HEAD', status: 200 },
  { path: `${pages.styles.path}none.css`, method: 'GET', status: 404, code: 'SLU-RENDER-STYLES-UNKNOWN' },
  { path: `${pages.styles.path}none.css`, body: '', status: 405, code: 'SLU-RENDER-METHOD' },
  { path: '/elsewhere', method: 'GET', status: 404, code: 'SLU-RENDER-NOT-FOUND' },
];

const OF_CONNECTIONS = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

/** Without what differs from one answer to the next. */
async function shown(response: Response): Promise<unknown> {
  const text = await response.text();
  // A page has its length where it is there in time.
  const isPlain = (name: string, value: string): boolean =>
    OF_CONNECTIONS.has(name) || (name === 'content-length' && Number(value) === Buffer.byteLength(text));
  const headers = [...response.headers].filter(([name, value]) => !isPlain(name, value));
  const same = text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
    .replaceAll(/"duration":[\d.e-]+/g, 'duration')
    .replaceAll(/"stack":\[[^\]]*\]/g, 'stack');
  return { status: response.status, headers, text: same };
}

void test('each answer over Fetch is that over node:http', async (t) => {
  const origin = await listen(t, createServer(handlers, { onError: () => undefined }));
  const handle = toFetch(handlers, { onError: () => undefined });
  for (const { path, method = 'POST', headers = json, body, status, code } of cases) {
    const init: RequestInit = { method, headers, ...(body !== undefined && { body: body as BodyInit }) };
    const [over, of] = [await fetch(origin + path, init), await handle(new Request(origin + path, init))];
    const what = `${method} ${path} ${String(body).slice(0, 40)}`;
    assert.equal(of.status, status, what);
    if (code !== undefined) {
      assert.equal(CATALOGUE[code][0], status);
      assert.equal(((await of.clone().json()) as { code?: string }).code, code, what);
      assert.equal(of.headers.get('cache-control'), 'no-store');
    }
    assert.deepEqual(await shown(of), await shown(over), what);
  }
});

const own: PageTree = {
  boxes: [
    { component: 'Text', props: { title: 'own' } },
    { component: 'Slow', props: { ms: 100 } },
  ],
};

void test("an app's own page and the data of its boxes are the same over Fetch", async (t) => {
  const origin = await serve(t, async (request, response) => {
    if (request.url === '/') await respond(pages, request, response, own);
    else await respondBox(pages, request, response, own);
    return true;
  });
  const asked = (path: string): Request => new Request(origin + path);
  assert.deepEqual(
    await shown(await pageResponse(pages, asked('/'), own)),
    await shown(await fetch(`${origin}/`)),
  );
  for (const path of ['/?box=b1', '/?box=none'])
    assert.deepEqual(
      await shown(await boxResponse(pages, asked(path), own)),
      await shown(await fetch(origin + path)),
    );
});

void test('a page goes out while its boxes wait, and a reader who leaves ends it', async () => {
  const waiting: PageTree = {
    boxes: [
      { component: 'Text', props: { title: 'first' } },
      { component: 'Slow', props: { ms: 60_000 } },
    ],
  };
  const { body } = await pageResponse(
    pages,
    new Request('http://shop.test/'),
    waiting,
    {},
    { deadlineMs: 60_000 },
  );
  assert.ok(body !== null);
  const reader = body.getReader();
  let text = '';
  while (!text.includes('first')) text += Buffer.from((await reader.read()).value ?? []).toString();
  assert.ok(!text.includes('slow'));
  await reader.cancel();
});

void test('a request that is aborted aborts its page', async () => {
  const reports: number[] = [];
  const handler = pageHandler(pages, { onReport: ({ boxes }) => reports.push(boxes.length) });
  const control = new AbortController();
  const request = new Request('http://shop.test/page', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({
      tree: { boxes: [{ component: 'Slow', props: { ms: 60_000 } }] },
      deadlineMs: 60_000,
    }),
    signal: control.signal,
  });
  const response = await handler.fetch(request);
  control.abort();
  await response?.text().catch(() => undefined);
  await eventually(() => reports.length === 1);
});

void test('a stream that is cancelled before and in the middle ends its page, and nothing else', async () => {
  const slow = {
    boxes: [
      { component: 'Text', props: { title: 'own' } },
      { component: 'Slow', props: { ms: 50 } },
    ],
  };
  for (const reads of [false, true]) {
    const response = await pageResponse(pages, new Request('http://shop.test/'), slow);
    // Those who hand a response on have waited for it in a microtask.
    await Promise.resolve();
    const reader = response.body?.getReader();
    if (reads) assert.match(String(Buffer.from((await reader?.read())?.value ?? [])), /own/);
    await reader?.cancel('enough');
    await setTimeout(20);
  }
});

void test('a body that was destroyed before it was read, or fails then, is not taken for a whole one', async () => {
  for (const error of [undefined, new Error('broken')]) {
    const answered = async (body: Readable): Promise<Response> =>
      responseOf('GET', { status: 200, headers: {}, body });
    const before = new Readable({ read: () => undefined });
    before.on('error', () => undefined);
    before.destroy(error);
    await assert.rejects((await answered(before)).text());
    const after = new Readable({ read: () => undefined });
    const response = await answered(after);
    after.destroy(error);
    await setTimeout(5);
    await assert.rejects(response.text());
  }
});

void test('Hono has handlers as middleware, and its routes beside them', async () => {
  const app = new Hono();
  app.use(honoMiddleware(handlers));
  app.use(
    honoMiddleware({
      fetch: ({ url }) =>
        url.endsWith('/fails') ? Promise.reject(new Error('no')) : Promise.resolve(undefined),
    }),
  );
  app.get('/', (context) => pageResponse(pages, context.req.raw, own, {}, { delivery: 'whole' }));
  app.post('/own', async (context) => context.json(await context.req.json()));
  app.onError((error, context) => context.text(`told: ${error.message}`, 500));
  const post = (path: string, body: string): Response | Promise<Response> =>
    app.request(path, { method: 'POST', headers: json, body });
  assert.match(await (await app.request('/')).text(), /own.*slow/s);
  const { results } = (await (await post('/batch', JSON.stringify({ a: job }))).json()) as {
    results: Record<string, { html: string }>;
  };
  assert.match(String(results['a']?.html), /one/);
  assert.deepEqual(await (await post('/own', '{"kept":1}')).json(), { kept: 1 });
  assert.deepEqual(
    await (await post('/page', '{')).json().then((body) => (body as { code: string }).code),
    'SLU-RENDER-BODY-NOT-JSON',
  );
  assert.equal(await (await app.request('/fails')).text(), 'told: no');
});

void test('a client who breaks off a body gets an error, and one that is refused already ends nothing', async () => {
  for (const first of ['{"tree":', ' '.repeat(20_000)]) {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(first));
        globalThis.setTimeout(() => controller.error(new Error('gone')), 20);
      },
    });
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit;
    const response = await toFetch(handlers)(new Request('http://shop.test/page', init));
    assert.equal(response.status, first.length > 10_000 ? 413 : 400);
    await setTimeout(50);
  }
});

void test('a body that breaks off without a reason is unreadable', async () => {
  for (const reason of [undefined, null, 'text']) {
    const body = new ReadableStream({
      start: (controller) => controller.error(reason),
    });
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit;
    const response = await toFetch(handlers)(new Request('http://shop.test/page', init));
    assert.equal(response.status, 400);
    assert.match(await response.text(), /SLU-RENDER-BODY-UNREADABLE/);
  }
});

void test('an HttpError that cannot be sent is told, and answered with 500', async () => {
  const told: string[] = [];
  const answering: Answering = () =>
    Promise.reject(new HttpError(400, 'x', { headers: { 'x-name': 'two\nlines' } }));
  const options = { onError: (error: unknown) => told.push(String(error)) };
  const response = await toFetch(served(answering), options)(new Request('http://shop.test/'));
  assert.equal(response.status, 500);
  assert.match(await response.text(), /SLU-RENDER-INTERNAL/);
  assert.match(told.join(), /cannot be sent/);
  const app = new Hono();
  app.use(honoMiddleware(served(answering)));
  app.onError((error, context) => context.text(`told: ${error.message}`, 500));
  assert.match(await (await app.request('/')).text(), /^told: An HttpError cannot be sent/);
});

void test('a body that a route has read already is told to the app, not blamed on the client', async () => {
  const request = new Request('http://shop.test/page', { method: 'POST', headers: json, body: tree });
  await request.text();
  const locked = new Request('http://shop.test/page', { method: 'POST', headers: json, body: tree });
  locked.body?.getReader();
  for (const each of [request, locked]) {
    const told: string[] = [];
    const response = await toFetch(handlers, { onError: (error) => told.push(String(error)) })(each);
    assert.equal(response.status, 500);
    assert.match(String(told), /has read the body before/);
  }
});

void test('handlers of a list share one request, in toFetch and in Hono', async () => {
  const seen = new Set<unknown>();
  const addresses = new Set<unknown>();
  const watch: Answering = (request) => {
    seen.add(request);
    addresses.add(request.socket.remoteAddress);
    return Promise.resolve(undefined);
  };
  const list = [served(watch), served(watch), served(watch)];
  const options = { address: () => '192.0.2.7' };
  const request = new Request('http://shop.test/nothing');
  assert.equal((await toFetch(list, options)(request)).status, 404);
  assert.equal(seen.size, 1);
  let isNext = false;
  const next = (): Promise<void> => {
    isNext = true;
    return Promise.resolve();
  };
  assert.equal(await honoMiddleware(list, options)({ req: { raw: request } }, next), undefined);
  assert.equal(seen.size, 2);
  assert.ok(isNext);
  assert.deepEqual([...addresses], ['192.0.2.7']);
});

void test('answers without a body have no length', async () => {
  const answering: Answering = () =>
    Promise.resolve({ status: 205, headers: { 'content-length': '2' }, body: 'ab' });
  const response = await toFetch(served(answering))(new Request('http://shop.test/'));
  assert.equal(response.headers.get('content-length'), null);
  assert.equal(await response.text(), '');
});

void test('answers without a body have none over node:http, whatever the app gives', async (t) => {
  const streams: Readable[] = [];
  const streamed = (): Readable => {
    const stream = Readable.from(['ab']);
    streams.push(stream);
    return stream;
  };
  const bodies = [() => 'ab', streamed];
  const answers = [204, 205, 304].flatMap((status) => bodies.map((body) => ({ status, body })));
  const queue = [...answers];
  const answering: Answering = () => {
    const next = queue.shift();
    assert.ok(next);
    const { status, body } = next;
    return Promise.resolve({ status, headers: { 'content-length': '2' }, body: body() });
  };
  const server = http.createServer((request, response) => {
    void nodeHandler(answering)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  // One connection: a byte too many would stand before the next answer.
  const get = 'GET / HTTP/1.1\r\nhost: shop.test\r\n';
  socket.end(`${get}\r\n`.repeat(answers.length - 1) + `${get}connection: close\r\n\r\n`);
  const lines = (await text(socket)).split('\r\n');
  assert.equal(lines.filter((line) => /^HTTP\/1\.1 \d+ /.test(line)).length, answers.length);
  assert.ok(
    lines.every((line) => line === '' || /^(?:HTTP\/1\.1 |[\w-]+: )/.test(line)),
    lines.join('|'),
  );
  assert.ok(!lines.some((line) => /^content-length: 2/i.test(line)));
  assert.ok(streams.length === 3 && streams.every(({ destroyed }) => destroyed));
});

void test('Fastify has handlers as a hook before its parsers, and its routes beside them', async (t) => {
  const app = fastify();
  const told: string[] = [];
  app.addHook(
    'onRequest',
    fastifyHook([...handlers, () => Promise.resolve(false)], {
      onError: (error) => told.push(String(error)),
    }),
  );
  app.post('/own', (request) => request.body);
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  assert.match((await send(`${origin}/page`, 'POST', json, tree)).text, /é ★/);
  assert.equal((await send(`${origin}/page`, 'POST', json, '{')).status, 400);
  assert.equal((await send(`${origin}/page`, 'POST', json, needing('fails'))).status, 502);
  assert.deepEqual(await send(`${origin}/own`, 'POST', json, '{"kept":1}'), {
    status: 200,
    text: '{"kept":1}',
  });
  assert.equal((await send(`${origin}/none`, 'GET', {})).status, 404);
  assert.deepEqual(told.length, 1);
});

void test('what a handler throws is told to the app or the log, without query and headers', async (t) => {
  const lines: string[] = [];
  t.mock.method(console, 'error', (line: string) => lines.push(line));
  const failing = { fetch: () => Promise.reject(new Error('why')) };
  const request = new Request('http://shop.test/path?token=secret', { headers: { cookie: 'secret' } });
  const response = await toFetch(failing)(request);
  assert.deepEqual(
    [response.status, await response.text()],
    [500, '{"error":"Internal error","code":"SLU-RENDER-INTERNAL"}'],
  );
  assert.match(lines.join(), /^GET \/path: Error: why/);
  assert.doesNotMatch(lines.join(), /secret/);
  const hostile = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('looked at');
      },
    },
  );
  // oxlint-disable-next-line prefer-promise-reject-errors -- that is what it is about
  const thrown = { fetch: () => Promise.reject(hostile) };
  assert.equal((await toFetch(thrown, { onError: () => undefined })(request)).status, 500);
  const refusing = { fetch: () => Promise.reject(new HttpError(418, 'short and stout')) };
  assert.equal((await toFetch(refusing)(request)).status, 418);
  assert.equal(lines.length, 1);
});

void test('visitors without a cookie are told apart by the address that the app knows', async () => {
  const seen: string[] = [];
  for (const address of ['203.0.113.1', '203.0.113.2'])
    await pageResponse(
      pages,
      new Request('http://shop.test/'),
      own,
      ({ visitor, request }) => {
        seen.push(`${visitor.id}|${request?.socket.remoteAddress ?? ''}|${request?.headers.host ?? ''}`);
        return {};
      },
      { address: () => address, delivery: 'whole' },
    );
  assert.deepEqual(seen, ['203.0.113.1 |203.0.113.1|shop.test', '203.0.113.2 |203.0.113.2|shop.test']);
});

void test("the guide's app on Hono answers", async (t) => {
  const guide = fs.readFileSync(new URL('../../../../docs/guide/pages.md', import.meta.url), 'utf8');
  const [, code] = /## Other servers[^]*?```js\n([^]*?)```/.exec(guide) ?? [];
  const folder = fs.mkdtempSync(new URL('./guide-', import.meta.url).pathname);
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(`${folder}/app.mjs`, String(code));
  const { default: app } = (await import(`${folder}/app.mjs`)) as { default: Hono };
  assert.match(await (await app.request('/')).text(), /<h1>Hello Ada<\/h1>/);
  assert.equal((await app.request('/box?box=none')).status, 404);
  assert.equal((await app.request('/none')).status, 404);
});
