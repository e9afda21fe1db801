// Handlers in a server of their own, and in an app of Express.
import assert from 'node:assert/strict';
import http from 'node:http';
import express from 'express';
import { test } from 'node:test';
import { eventually } from '../../../../tests/support/eventually.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { createServer, middleware, served } from '../../src/http/handler.js';
import type { Handler } from '../../src/http/node.js';
import { HttpError } from '../../src/http/errors.js';
import { createRegistry } from '../../src/registry/registry.js';
import { listen, post, resultOf, send, serve } from '../support/serve.js';

const registry = createRegistry();
registry.register('Text', ({ text }: { text: string }) => text, { rendering: 'static' });

const answering =
  (path: string): Handler =>
  (request, response) => {
    if (request.url !== path) return Promise.resolve(false);
    response.end(JSON.stringify({ path }));
    return Promise.resolve(true);
  };

void test('the first handler that wants a request answers it, and 404 where none does', async (t) => {
  const url = await listen(t, createServer([answering('/a'), answering('/b')]));
  assert.deepEqual(await send(`${url}/b`, 'GET', {}), { status: 200, text: '{"path":"/b"}' });
  assert.deepEqual(await send(`${url}/c`, 'GET', {}), {
    status: 404,
    text: '{"error":"Not found","code":"SLU-RENDER-NOT-FOUND"}',
  });
});

void test('what a handler throws is told to the app, and not to the client', async (t) => {
  const told: unknown[] = [];
  const errors = [new Error('a secret'), new HttpError(418, 'short and stout')];
  const failing: Handler = () => Promise.reject(errors.shift() ?? assert.fail());
  const url = await listen(
    t,
    createServer(failing, { onError: (error) => told.push((error as Error).message) }),
  );
  assert.deepEqual(await send(url, 'GET', {}), {
    status: 500,
    text: '{"error":"Internal error","code":"SLU-RENDER-INTERNAL"}',
  });
  assert.deepEqual(await send(url, 'GET', {}), { status: 418, text: '{"error":"short and stout"}' });
  assert.deepEqual(told, ['a secret']);
});

void test('an HttpError that cannot be sent is answered with 500 and told, and the server goes on', async (t) => {
  const errors = [
    new HttpError(400, 'x', { headers: { 'x-name': 'two\nlines' } }),
    new HttpError(400, 'x', { headers: { 'x name': 'y' } }),
    new HttpError(429, 'x', { headers: { 'retry-after': 5 as never } }),
    new HttpError(0, 'x'),
    new HttpError(999, 'x'),
    new HttpError('none' as never, 'x'),
  ];
  const told: string[] = [];
  const onError = (error: unknown): unknown => told.push(String(error));
  const failing: Handler = () => Promise.reject(errors.at(told.length) ?? assert.fail());
  const url = await listen(t, createServer(failing, { onError }));
  for (const _ of errors) {
    assert.deepEqual(await send(url, 'GET', {}), {
      status: 500,
      text: '{"error":"Internal error","code":"SLU-RENDER-INTERNAL"}',
    });
  }
  assert.equal(told.length, errors.length);
  for (const line of told) assert.match(line, /^Error: An HttpError cannot be sent: /);
  told.length = 0;
  const app = express();
  app.use(middleware(failing));
  app.use(((error: Error, _request, response, _next) => {
    onError(error);
    response.status(503).send('told');
  }) satisfies express.ErrorRequestHandler);
  const own = await listen(t, http.createServer(app));
  for (const _ of errors) assert.deepEqual(await send(own, 'GET', {}), { status: 503, text: 'told' });
});

void test('an onError that rejects ends nothing, and is logged', async (t) => {
  const log = t.mock.method(console, 'error', () => undefined);
  const onError = (): never => Promise.reject(new Error('no log')) as never;
  const url = await listen(
    t,
    createServer(() => Promise.reject(new Error('broken')), { onError }),
  );
  assert.equal((await send(url, 'GET', {})).status, 500);
  await eventually(() => log.mock.calls.length === 1);
  assert.match(String(log.mock.calls[0]?.arguments[0]), /no log/);
});

void test('an error after the end of an answer is told, and the answer arrives whole', async (t) => {
  const body = 'x'.repeat(20_000_000);
  const late = served(() =>
    Promise.resolve({ status: 200, headers: {}, body, sent: () => Promise.reject(new Error('report')) }),
  );
  const told: string[] = [];
  const options = { onError: (error: unknown) => told.push(String(error)) };
  const app = express();
  app.use(middleware(late, options));
  for (const server of [createServer(late, options), http.createServer(app)]) {
    const { status, text } = await send(await listen(t, server), 'GET', {});
    assert.equal(status, 200);
    assert.equal(text.length, body.length);
    assert.deepEqual(told.splice(0), ['Error: report']);
  }
});

void test('an answer that breaks off ends its connection', async (t) => {
  const broken: Handler = (_request, response) => {
    response.write('half');
    return Promise.reject(new Error('in the middle'));
  };
  const url = await serve(t, broken);
  await assert.rejects(send(url, 'GET', {}), /aborted|socket hang up/);
});

void test('Express has fragments as middleware, before its body parser and after it', async (t) => {
  const jobs = { a: { name: 'Text', data: { text: 'hello' } } };
  for (const parses of [false, true]) {
    const app = express();
    if (parses) app.use(express.json());
    app.use(middleware(createFragments({ registry }).handle));
    app.get('/own', (_request, response) => void response.send('own'));
    const url = await listen(t, http.createServer(app));
    assert.equal(resultOf((await post(`${url}/batch`, jobs)).answer, 'a').html, 'hello');
    assert.deepEqual(await send(`${url}/own`, 'GET', {}), { status: 200, text: 'own' });
    assert.equal((await send(`${url}/batch`, 'GET', {})).status, 404);
  }
});

void test('Express is told what a handler throws', async (t) => {
  const app = express();
  app.use(middleware(() => Promise.reject(new Error('broken'))));
  app.use(((error: Error, _request, response, _next) => {
    response.status(503).send(error.message);
  }) satisfies express.ErrorRequestHandler);
  const url = await listen(t, http.createServer(app));
  assert.deepEqual(await send(url, 'GET', {}), { status: 503, text: 'broken' });
});

void test('Express does not go on where a handler rejects with nothing, and clients get the codes of their errors', async (t) => {
  const thrown = [undefined, new HttpError(409, 'taken', { code: 'OWN-TAKEN' })];
  const app = express();
  app.use(middleware(() => Promise.reject(thrown.shift() as Error)));
  app.use((_request, response) => void response.send('went on'));
  app.use(((_error: Error, _request, response, _next) => {
    response.status(503).send('told');
  }) satisfies express.ErrorRequestHandler);
  const url = await listen(t, http.createServer(app));
  assert.deepEqual(await send(url, 'GET', {}), { status: 503, text: 'told' });
  const { status, text } = await send(url, 'GET', {});
  assert.equal(status, 409);
  assert.deepEqual(JSON.parse(text), { error: 'taken', code: 'OWN-TAKEN' });
});

void test("bytes and text that the app's parsers leave are parsed, and bytes that are no UTF-8 are refused", async (t) => {
  const jobs = { a: { name: 'Text', data: { text: 'hello' } } };
  for (const parser of [express.raw({ type: '*/*' }), express.text({ type: '*/*' })]) {
    const app = express();
    app.use(parser, middleware(createFragments({ registry }).handle));
    const url = await listen(t, http.createServer(app));
    assert.equal(resultOf((await post(`${url}/batch`, jobs)).answer, 'a').html, 'hello');
  }
  const url = await serve(t, createFragments({ registry }).handle);
  const body = Buffer.concat([
    Buffer.from('{"a":{"name":"Text","data":{"text":"'),
    Buffer.from([0xff]),
    Buffer.from('"}}}'),
  ]);
  const response = await fetch(`${url}/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /The body is not valid JSON/);
});

void test("an empty body that the app's parser has read is a batch of no jobs", async (t) => {
  const app = express();
  app.use(express.json(), middleware(createFragments({ registry }).handle));
  const url = await listen(t, http.createServer(app));
  const { status, text } = await send(`${url}/batch`, 'POST', { 'content-type': 'application/json' }, '');
  assert.equal(status, 200, text);
  assert.deepEqual(JSON.parse(text), { success: true, error: null, results: {} });
});

void test('a `verify` that rejects refuses the body', async (t) => {
  const jobs = { a: { name: 'Text', data: { text: 'hello' } } };
  const verify = async (bytes: Buffer): Promise<void> => {
    await Promise.resolve();
    if (bytes.includes('hello')) throw new Error('wrong signature');
  };
  const url = await serve(t, createFragments({ registry, verify }).handle);
  assert.equal((await post(`${url}/batch`, {})).status, 200);
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await send(`${url}/batch`, 'POST', headers, JSON.stringify(jobs));
  assert.equal(status, 403);
  assert.match(text, /wrong signature/);
});

void test('a body that the app has parsed goes past no `verify`', async (t) => {
  const jobs = { a: { name: 'Text', data: { text: 'hello' } } };
  let checked = 0;
  const verify = (): void => {
    checked += 1;
  };
  for (const [parser, wanted] of [
    [express.json(), 500],
    [express.raw({ type: '*/*' }), 200],
  ] as const) {
    const app = express();
    const told: string[] = [];
    app.use(parser, middleware(createFragments({ registry, verify }).handle));
    app.use(((error: Error, _request, response, _next) => {
      told.push(error.message);
      response.status(500).send('told');
    }) satisfies express.ErrorRequestHandler);
    const url = await listen(t, http.createServer(app));
    const headers = { 'content-type': 'application/json' };
    assert.equal((await send(`${url}/batch`, 'POST', headers, JSON.stringify(jobs))).status, wanted);
    assert.equal(checked, wanted === 200 ? 1 : 0);
    assert.match(told.join(), wanted === 200 ? /^$/ : /has parsed the body/);
  }
});

void test('a connection goes on after a body that was refused', async (t) => {
  const url = await serve(t, createFragments({ registry, bytesMax: 100 }).handle);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = (body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = http.request(`${url}/batch`, { method: 'POST', agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', reject).end(body);
    });
  assert.equal(await ask(JSON.stringify({ a: 'x'.repeat(2_000) })), 413);
  assert.equal(await ask('{}'), 200);
});
