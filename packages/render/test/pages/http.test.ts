// Pages over HTTP: posted trees, pages of an app's own, and what callers are told of their mistakes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { test, type TestContext } from 'node:test';
import express from 'express';
import { eventually } from '../../../../tests/support/eventually.js';
import { createServer, middleware } from '../../src/http/handler.js';
import type { Handler } from '../../src/http/node.js';
import { pageHandler, respond, respondBox, styleHandler } from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import type { PageReport } from '../../src/pages/report.js';
import { listen } from '../support/server.js';
import { boxesIn, registryForTests } from './support.js';

const json = { 'content-type': 'application/json' };

async function serve(t: TestContext, reports: PageReport[] = []): Promise<string> {
  const pages = createPages({
    registry: registryForTests(),
    sources: {
      functions: {
        fails: () => {
          throw new Error('no');
        },
        never: () => new Promise(() => undefined),
      },
    },
    experiments: [{ name: 'hero', arms: { a: 1, b: 3 }, since: '2026-01-01' }],
  });
  const handler = pageHandler(pages, {
    bytesMax: 10_000,
    headers: { 'Cache-Control': 's-maxage=60' },
    onReport: (report) => reports.push(report),
  });
  return listen(t, createServer([handler, styleHandler(pages)], { onError: () => undefined }));
}

async function post(
  origin: string,
  body: unknown,
  headers: Record<string, string> = json,
): Promise<Response> {
  return fetch(`${origin}/page`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

void test('a page that waits for nothing is sent in one piece, with its length', async (t) => {
  const origin = await serve(t);
  const boxes = Array.from({ length: 20 }, () => ({ component: 'Text' }));
  // Components are synchronous once they have been.
  const text = await (await post(origin, { tree: { boxes } })).text();
  // A busy machine may take more turns than the page waits for.
  const length = await eventually(async () => {
    const page = await post(origin, { tree: { boxes } });
    assert.equal(await page.text(), text);
    const length = page.headers.get('content-length');
    assert.ok(length !== null, 'the page has a length');
    return length;
  });
  assert.equal(length, String(Buffer.byteLength(text)));
});

void test('a posted tree comes back as a page, or as JSON', async (t) => {
  const reports: PageReport[] = [];
  const origin = await serve(t, reports);
  const tree = { status: 203, boxes: [{ component: 'Text', props: { title: { $path: '$.t' } } }] };
  const page = await post(origin, { tree, data: { t: 'posted' } });
  assert.equal(page.status, 203);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(page.headers.get('cache-control'), 's-maxage=60');
  assert.match(await page.text(), /<p>posted<\/p>/);
  const other = await post(origin, { tree, data: { t: 'posted' }, format: 'json' });
  assert.equal(other.status, 203);
  const body = (await other.json()) as { boxes: unknown };
  assert.deepEqual(body.boxes, [
    { id: 'b0', component: 'Text', outcome: 'rendered', data: { title: 'posted' } },
  ]);
  await eventually(() => reports.length === 2);
});

void test('a whole page with a bad box says so in its headers, and is for no cache', async (t) => {
  const origin = await serve(t);
  const tree = { boxes: [{ component: 'Text' }, { component: 'Throws' }] };
  const page = await post(origin, { tree, delivery: 'whole' });
  const html = await page.text();
  assert.equal(page.headers.get('content-length'), String(Buffer.byteLength(html)));
  assert.match(page.headers.get('server-timing') ?? '', /^boxes;desc="1 of 2", error;desc="1"/);
  assert.equal(page.headers.get('cache-control'), 'no-store');
});

void test('a mistake of the caller is answered with its place', async (t) => {
  const origin = await serve(t);
  const tree = { boxes: [] };
  const cases: [unknown, number, RegExp][] = [
    ['{', 400, /not valid JSON/],
    ['', 400, /not an object/],
    [[], 400, /not an object/],
    [{}, 400, /^tree: /],
    [{ tree: { boxes: [{ component: 1 }] } }, 400, /^boxes\[0\]\.component: /],
    [{ tree, status: 200 }, 400, /^status: is not known/],
    [{ tree, format: 'xml' }, 400, /^format: /],
    [{ tree, engine: -1 }, 400, /^engine: /],
    [{ tree, data: [] }, 400, /^data: /],
    [{ tree, visitor: { device: 'fridge' } }, 400, /^device: /],
    [{ tree, variants: { a: 1 } }, 400, /^variants\.a: /],
    [{ tree, data: { x: 'x'.repeat(20_000) } }, 413, /bytes/],
    [{ tree: { boxes: [], data: { x: { source: 'fails' } } } }, 502, /source x/],
    [{ tree: { boxes: [], data: { x: { source: 'never', timeoutMs: 10 } } } }, 504, /source x/],
    [{ tree: { boxes: [], data: { x: { source: 'never' } } }, deadlineMs: 10 }, 504, /time limit passed/],
  ];
  for (const [body, status, message] of cases) {
    const answer = await post(origin, body);
    const { error } = (await answer.json()) as { error: string };
    assert.equal(answer.status, status, `${JSON.stringify(body).slice(0, 100)}: ${error}`);
    assert.match(error, message);
  }
  assert.equal((await post(origin, { tree }, { 'content-type': 'text/plain' })).status, 415);
  const get = await fetch(`${origin}/page`);
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  assert.equal((await fetch(`${origin}/other`)).status, 404);
});

void test('variants are listed with share and age', async (t) => {
  const origin = await serve(t);
  const { variants } = (await (await fetch(`${origin}/variants`)).json()) as {
    variants: { arm: string; share: number; age_days: number; since: string }[];
  };
  assert.deepEqual(
    variants.map(({ arm, share }) => [arm, share]),
    [
      ['a', 0.25],
      ['b', 0.75],
    ],
  );
  assert.ok(variants.every(({ age_days, since }) => since === '2026-01-01' && Number.isInteger(age_days)));
});

void test('an app of Express answers with pages of its own, and with the data of holes', async (t) => {
  const registry = registryForTests();
  const pages = createPages({ registry });
  const tree = { boxes: [{ component: 'Text', props: { title: { $path: '$.id' } } }] };
  const app = express();
  app.use(middleware(styleHandler(pages)));
  app.get('/p/:id', (request, response, next) => {
    const options = { headers: { 'x-own': '1' } };
    respond(pages, request, response, tree, { id: request.params.id }, options).catch(next);
  });
  app.get('/p/:id/box', (request, response, next) => {
    respondBox(pages, request, response, tree, { id: request.params.id }).catch(next);
  });
  const origin = await listen(t, app);
  const page = await fetch(`${origin}/p/shoe`);
  assert.equal(page.headers.get('x-own'), '1');
  assert.equal(boxesIn(await page.text()).length, 1);
  const box = await fetch(`${origin}/p/shoe/box?box=b0`);
  assert.deepEqual(await box.json(), { props: '{"title":"shoe"}' });
  assert.equal((await fetch(`${origin}/p/shoe/box?box=b7`)).status, 404);
  const head = await fetch(`${origin}/p/shoe`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
});

void test('a client who leaves before the data is there is no error, in a server and in Express', async (t) => {
  const asked: AbortSignal[] = [];
  const never = (_args: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    asked.push(signal);
    return new Promise(() => undefined);
  };
  const pages = createPages({ registry: registryForTests(), sources: { functions: { never } } });
  const tree = { data: { x: { source: 'never', timeoutMs: 60_000 } }, boxes: [] };
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const rejected: unknown[] = [];
  const own: Handler = async (request, response) => {
    try {
      await respond(pages, request, response, tree);
      return true;
    } catch (error) {
      rejected.push(error);
      throw error;
    }
  };
  const app = express();
  app.use(middleware([pageHandler(pages), own], { onError }));
  app.use((error: unknown, _request: unknown, _response: unknown, _next: unknown) => void onError(error));
  for (const server of [createServer([pageHandler(pages), own], { onError }), createHttpServer(app)]) {
    const origin = await listen(t, server);
    for (const [path, body] of [
      ['/page', JSON.stringify({ tree })],
      ['/own', ''],
    ] as const) {
      const count = asked.length;
      const request = httpRequest(origin + path, { method: 'POST', headers: json });
      request.on('error', () => undefined);
      request.end(body);
      await eventually(() => asked.length === count + 1);
      request.destroy();
      await eventually(() => asked.at(-1)?.aborted === true);
    }
  }
  await eventually(() => rejected.length === 2);
  assert.ok(rejected.every((error) => (error as Error).name === 'AbortError'));
  assert.deepEqual(errors, []);
});

void test('nothing is asked for a client who has left while the app did something else', async (t) => {
  let isAsked = false;
  const pages = createPages({
    registry: registryForTests(),
    sources: { functions: { data: () => (isAsked = true) } },
  });
  const tree = { data: { x: { source: 'data' } }, boxes: [] };
  let isBegun = false;
  let end: unknown;
  const late: Handler = async (request, response) => {
    isBegun = true;
    await once(response, 'close');
    await respond(pages, request, response, tree).catch((error: unknown) => (end = error));
    return true;
  };
  const origin = await listen(t, createServer(late));
  const request = httpRequest(origin);
  request.on('error', () => undefined);
  request.end();
  await eventually(() => isBegun);
  request.destroy();
  await eventually(() => end !== undefined);
  assert.equal((end as Error).name, 'AbortError');
  assert.equal(isAsked, false);
});

void test('a client who leaves in the middle of a page is no error, and its boxes are not rendered', async (t) => {
  const registry = registryForTests();
  const aborted: string[] = [];
  registry.register(
    'Slow',
    (_props: object, { signal }: { signal: AbortSignal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push('Slow');
          reject(new Error('aborted'));
        });
      }),
    { timeoutMs: 60_000 },
  );
  const pages = createPages({ registry });
  const reports: PageReport[] = [];
  const errors: unknown[] = [];
  const handler = pageHandler(pages, { onReport: (report) => reports.push(report) });
  const origin = await listen(t, createServer(handler, { onError: (error) => errors.push(error) }));
  const request = httpRequest(`${origin}/page`, { method: 'POST', headers: json });
  request.on('error', () => undefined);
  request.end(JSON.stringify({ tree: { boxes: [{ component: 'Text' }, { component: 'Slow' }] } }));
  await new Promise<void>((resolve) => {
    request.on('response', (response) => response.once('data', () => resolve()));
  });
  request.destroy();
  await eventually(() => aborted.length === 1);
  await eventually(() => reports.length === 1);
  assert.equal(reports[0]?.outcomes.aborted, 1);
  assert.deepEqual(errors, []);
});
