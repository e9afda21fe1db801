// The corners of HTTP/1.1 that clients and apps do use.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, end, ownApp, running, sent } from './scenario.ts';

let sluice: Sluice;
let corners: Sluice;
before(async () => {
  sluice = await startSluice({ entry: app('stream.js'), workers: 2 });
  const env = bounds({ response_headers_bytes_max: 4000 });
  corners = await startSluice({ entry: ownApp('corners.js'), workers: 1, env });
});
after(async () => {
  await end(sluice);
  await end(corners);
});

void test('twenty pipelined requests are answered in order', async (t) => {
  const echo = await running(t, { entry: app('echo.js'), workers: 3 });
  const connection = await RawConnection.connect(echo.port);
  let bytes = '';
  for (let index = 0; index < 20; index++) {
    const body = `body ${index}`;
    bytes += bytesOf(`/pipelined/${index}`, `Content-Length: ${body.length}\r\n`, 'POST') + body;
  }
  connection.send(bytes);
  for (let index = 0; index < 20; index++) {
    const seen = JSON.parse((await connection.response()).body.toString()) as { url: string; body: string };
    assert.deepEqual([seen.url, seen.body], [`/pipelined/${index}`, `body ${index}`]);
  }
  connection.close();
});

void test('pipelined requests that come in pieces of one byte are answered in order', async () => {
  const connection = await RawConnection.connect(sluice.port);
  for (const byte of bytesOf('/') + bytesOf('/no-content') + bytesOf('/')) {
    connection.send(byte);
    await new Promise(setImmediate);
  }
  assert.equal((await connection.response()).status, 200);
  assert.equal((await connection.response()).status, 204);
  assert.equal((await connection.response()).status, 200);
  connection.close();
});

void test('an HTTP/1.0 client gets no chunks and a closed connection', async () => {
  const connection = await RawConnection.connect(sluice.port);
  connection.send('GET /stream?chunks=3&bytes=10 HTTP/1.0\r\n\r\n');
  const response = await connection.response();
  assert.equal(response.status, 200);
  assert.ok(!response.headers.has('transfer-encoding'));
  assert.equal(response.body.toString(), 'x'.repeat(30));
});

void test('an HTTP/1.0 client that asks for it keeps its connection', async () => {
  const connection = await RawConnection.connect(sluice.port);
  const request = 'GET /big?bytes=10 HTTP/1.0\r\nHost: app\r\nConnection: keep-alive\r\n\r\n';
  connection.send(request);
  const first = await connection.response();
  assert.deepEqual([first.status, first.headers.get('connection')], [200, 'keep-alive']);
  connection.send(request);
  assert.equal((await connection.response()).status, 200);
  connection.close();
});

void test('HEAD, 204 and 304 have no body and leave the connection in order', async () => {
  const connection = await sent(sluice, '/big?bytes=1000');
  assert.equal((await connection.response()).body.length, 1000);
  connection.send(bytesOf('/big?bytes=1000', '', 'HEAD'));
  assert.equal((await connection.response({ toHead: true })).status, 200);
  connection.send(bytesOf('/stream', '', 'HEAD'));
  assert.equal((await connection.response({ toHead: true })).status, 200);
  connection.send(bytesOf('/no-content') + bytesOf('/not-modified') + bytesOf('/'));
  const empty = await connection.response();
  assert.deepEqual(
    [empty.status, empty.headers.has('content-length'), empty.headers.has('transfer-encoding')],
    [204, false, false],
  );
  assert.equal((await connection.response()).headers.get('etag'), '"1"');
  assert.equal((await connection.response()).body.toString(), 'ok\n');
  connection.close();
});

void test('the length that an app gives for HEAD is passed on', async (t) => {
  const trivial = await running(t, { entry: app('trivial.js'), workers: 1 });
  const head = await ask(trivial, '/', { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, '32', 0]);
});

void test('103 Early Hints reach an HTTP/1.1 client before the response and an HTTP/1.0 client never', async () => {
  const connection = await sent(sluice, '/early-hints');
  const hints = await connection.response();
  assert.deepEqual([hints.status, hints.headers.get('link')], [103, '</style.css>; rel=preload; as=style']);
  assert.equal((await connection.response()).body.toString(), 'hinted\n');
  connection.close();
  const old = await RawConnection.connect(sluice.port);
  old.send('GET /early-hints HTTP/1.0\r\n\r\n');
  assert.equal((await old.response()).status, 200);
});

void test('trailers of a response arrive', async () => {
  const response = await ask(sluice, '/trailers');
  assert.equal(response.body.toString(), 'body with a trailer\n');
  assert.equal(response.trailers.get('x-checksum'), 'abc');
});

void test('a flushed chunk arrives while the worker still works on the next', async () => {
  const connection = await sent(sluice, '/stream?chunks=2&interval_ms=1500&bytes=7');
  await connection.untilBytes('xxxxxxx', 1_400);
  assert.ok(!connection.received.includes('xxxxxxx'));
  await connection.untilBytes('0\r\n\r\n');
  connection.close();
});

void test('a client that expects 100 is asked for its body', async () => {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/upload', 'Content-Length: 4\r\nExpect: 100-continue\r\n', 'POST'));
  assert.equal((await connection.response()).status, 100);
  connection.send('body');
  assert.equal((await connection.response()).body.toString(), '4\n');
  connection.send(bytesOf('/upload', 'Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n', 'POST'));
  assert.equal((await connection.response()).status, 100);
  connection.send('4\r\nbody\r\n0\r\n\r\n');
  assert.equal((await connection.response()).body.toString(), '4\n');
  connection.close();
});

void test('a client that expects 100 and does not wait for it is served too', async () => {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/upload', 'Content-Length: 4\r\nExpect: 100-continue\r\n', 'POST') + 'body');
  let response = await connection.response();
  if (response.status === 100) response = await connection.response();
  assert.equal(response.body.toString(), '4\n');
  connection.close();
});

void test('a body that is declared too large is refused before it is asked for', async () => {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/upload', 'Content-Length: 99999999\r\nExpect: 100-continue\r\n', 'POST'));
  assert.equal((await connection.response()).status, 413);
  await connection.untilClosed();
});

void test('a body of many megabytes arrives whole, from memory and file', async () => {
  const body = 'x'.repeat(3_000_000);
  assert.equal((await ask(sluice, '/upload', { method: 'POST', body })).body.toString(), '3000000\n');
});

void test('a client that ends its sending side gets what is answered at once, as from Node alone', async () => {
  const connection = await sent(sluice, '/big?bytes=10');
  connection.end();
  assert.equal((await connection.response()).body.toString(), 'xxxxxxxxxx');
  await connection.untilClosed();
  connection.close();
  const late = await sent(sluice, '/sleep?ms=50');
  late.end();
  assert.equal((await late.untilClosed()).length, 0);
  late.close();
});

void test('pipelined requests of a client that then ends its sending side are answered as far as at once', async () => {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/') + bytesOf('/big?bytes=10') + bytesOf('/sleep?ms=50') + bytesOf('/'));
  connection.end();
  const bodies: string[] = [];
  for (let left = 2; left > 0; left--) bodies.push((await connection.response()).body.toString());
  assert.deepEqual(bodies, ['ok\n', 'xxxxxxxxxx']);
  assert.equal((await connection.untilClosed()).length, 0);
  connection.close();
});

void test('a 204 has no length, whatever the app says', async () => {
  const connection = await sent(corners, '/no-content-with-length');
  const empty = await connection.response();
  assert.deepEqual([empty.status, empty.headers.has('content-length')], [204, false]);
  connection.send(bytesOf('/after'));
  assert.match((await connection.response()).body.toString(), / GET \/after\n$/);
  connection.close();
});

void test('an informational response has no length and no header of the gateway', async () => {
  // The app writes this one to the socket itself. The first time it may be dropped, on a connection that others have used.
  await ask(corners, '/hints-with-length');
  await eventually(() => corners.stdout.includes('writes to a connection'), {
    what: 'word of it in the log',
  });
  const connection = await sent(corners, '/hints-with-length');
  const hints = await connection.response();
  assert.deepEqual([hints.status, [...hints.headers]], [103, [['link', '</a>; rel=preload']]]);
  assert.equal((await connection.response()).body.toString(), 'hinted\n');
  connection.close();
});

void test('a response whose headers are too large is 502, and the worker goes on', async () => {
  assert.equal((await ask(corners, '/header-of?bytes=3500')).status, 200);
  const { pid } = (await corners.status()).workers[0] ?? assert.fail();
  for (let round = 0; round < 3; round++) {
    assertRefused(await ask(corners, '/header-of?bytes=4100'), 502, 'SLU-WORKER-ANSWER-MALFORMED');
  }
  assert.equal((await ask(corners, '/header-of?bytes=3500')).status, 200);
  assert.equal((await corners.status()).workers[0]?.pid, pid);
});
