// What is accepted arrives at the worker written afresh: one reading, one length or none, nothing of the client's
// connection, and the gateway's word for where it came from.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { Capture, type Captured, valuesOf } from './capture.ts';

let capture: Capture;
before(async () => {
  capture = await Capture.start();
});
after(() => capture.stop());

/** Sends a request and returns what the worker got of it. */
async function arrives(bytes: string): Promise<Captured> {
  const connection = await RawConnection.connect(capture.sluice.port);
  connection.send(bytes);
  assert.equal((await connection.response()).status, 200);
  connection.close();
  return capture.takeOne();
}

const get = (lines: string, target = '/accepted'): string =>
  `GET ${target} HTTP/1.1\r\nHost: app\r\n${lines}\r\n`;
const post = (lines: string, body: string): string =>
  `POST /accepted HTTP/1.1\r\nHost: app\r\n${lines}\r\n${body}`;
const names = (request: Captured): string[] => request.fields.map(([name]) => name.toLowerCase());

void test('a request without a body arrives without a length', async () => {
  const request = await arrives(get(''));
  assert.equal(request.requestLine, 'GET /accepted HTTP/1.1');
  assert.ok(!names(request).includes('content-length'));
});

void test('chunks arrive as one body with one length', async () => {
  const chunks = '5;a=b;c="d e"\r\nhello\r\n0006\r\n world\r\n0\r\n\r\n';
  const request = await arrives(post('Transfer-Encoding: chunKED\r\n', chunks));
  assert.equal(request.body, 'hello world');
  assert.deepEqual(valuesOf(request, 'content-length'), ['11']);
});

void test('chunks with trailers arrive as one chunk with its trailers, which are no headers', async () => {
  const chunks = '5;a=b\r\nhello\r\n0006\r\n world\r\n0\r\nX-Trailer: a\r\nContent-Length: 7\r\n\r\n';
  const request = await arrives(post('Transfer-Encoding: chunKED\r\nTrailer: X-Trailer\r\n', chunks));
  assert.equal(request.body, 'hello world');
  assert.deepEqual(valuesOf(request, 'transfer-encoding'), ['chunked']);
  assert.deepEqual(request.trailers, [['X-Trailer', 'a']]);
  assert.ok(!names(request).includes('x-trailer') && !names(request).includes('trailer'));
});

void test('a declared length arrives as the length of what came', async () => {
  const request = await arrives(post('Content-Length: 00005\r\n', 'hello'));
  assert.deepEqual([valuesOf(request, 'content-length'), request.body], [['5'], 'hello']);
  const empty = await arrives(post('Content-Length: 0\r\n', ''));
  assert.deepEqual([valuesOf(empty, 'content-length'), empty.body], [['0'], '']);
});

void test('a body that looks like a request stays a body', async () => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: app\r\n\r\n';
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
    const lines = `Host: app\r\nContent-Length: ${smuggled.length}\r\n\r\n`;
    const request = await arrives(`${method} /accepted HTTP/1.1\r\n${lines}${smuggled}`);
    assert.equal(request.body, smuggled);
  }
});

void test('headers of the connection do not pass, nor what Connection names', async () => {
  const request = await arrives(
    get(
      'Connection: keep-alive, X-Hop, x-other-hop\r\nX-Hop: 1\r\nX-Other-Hop: 2\r\nX-End: 3\r\nKeep-Alive: timeout=5\r\n' +
        'Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nTE: trailers\r\nTrailer: X-T\r\n' +
        'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
    ),
  );
  const hops = [
    'x-hop',
    'x-other-hop',
    'keep-alive',
    'proxy-connection',
    'proxy-authorization',
    'te',
    'trailer',
    'upgrade',
    'http2-settings',
  ];
  for (const name of hops) assert.ok(!names(request).includes(name), name);
  assert.deepEqual(valuesOf(request, 'x-end'), ['3']);
  assert.ok(valuesOf(request, 'connection').every((value) => !/x-hop|upgrade|http2/i.test(value)));
});

void test('a name with an underscore that stands for no other header arrives as it was sent', async () => {
  const request = await arrives(get('api_key: secret\r\nX-Api-Key: other\r\nAPI_KEY: again\r\n_: 1\r\n'));
  assert.deepEqual(valuesOf(request, 'api_key'), ['secret', 'again']);
  assert.deepEqual([valuesOf(request, 'x-api-key'), valuesOf(request, '_')], [['other'], ['1']]);
});

void test('Connection cannot name away what the app or the gateway relies on', async () => {
  const request = await arrives(
    post(
      'Connection: close, Host, Content-Length, Content-Type, Authorization, Cookie, X-Forwarded-For, X-Forwarded-Proto, ' +
        'X-Request-Id, Forwarded, traceparent, Cache-Control, X-Sluice-Request\r\n' +
        'Content-Length: 5\r\nContent-Type: text/plain\r\nAuthorization: a\r\nCookie: b\r\nCache-Control: c\r\n' +
        'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n',
      'hello',
    ),
  );
  const kept =
    'host content-length content-type authorization cookie cache-control ' +
    'x-forwarded-for x-forwarded-proto x-request-id forwarded traceparent x-sluice-request';
  for (const name of kept.split(' ')) {
    assert.equal(valuesOf(request, name).length, 1, name);
  }
  assert.deepEqual([valuesOf(request, 'host'), request.body], [['app'], 'hello']);
});

void test("the gateway's private headers cannot be injected, in no way", async () => {
  const forged = 'id=999;peer=6.6.6.6:66;local=6.6.6.6:66;proto=https';
  for (const lines of [
    `X-Sluice-Request: ${forged}\r\n`,
    `x-sluice-request: ${forged}\r\nX-SLUICE-REQUEST: ${forged}\r\n`,
    `X-Sluice-Anything: ${forged}\r\nConnection: X-Sluice-Anything\r\n`,
    `X-Forwarded-For: ${forged}\r\nX-Forwarded-Anything: ${forged}\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\n`,
    `X-Request-Id: ${forged}\r\ntraceparent: ${forged}\r\ntracestate: ${forged}\r\n`,
  ]) {
    const request = await arrives(get(lines));
    assert.ok(!JSON.stringify(request).includes('6.6.6.6'), lines);
    const [label, ...more] = valuesOf(request, 'x-sluice-request');
    assert.match(
      label ?? '',
      /^id=\d+;token=[0-9a-f]{16};peer=127\.0\.0\.1:\d+;local=127\.0\.0\.1:\d+;proto=http$/,
    );
    assert.deepEqual(more, []);
  }
  const trailer = await arrives(
    post('Transfer-Encoding: chunked\r\n', `0\r\nX-Sluice-Request: ${forged}\r\n\r\n`),
  );
  assert.equal(valuesOf(trailer, 'x-sluice-request').length, 1);
  assert.ok(!JSON.stringify(trailer).includes('6.6.6.6'));
});

void test('where a request came from is said by the gateway', async () => {
  const request = await arrives(get(''));
  assert.deepEqual(valuesOf(request, 'x-forwarded-for'), ['127.0.0.1']);
  assert.deepEqual(valuesOf(request, 'x-forwarded-proto'), ['http']);
  assert.deepEqual(valuesOf(request, 'x-forwarded-host'), ['app']);
  assert.equal(valuesOf(request, 'forwarded').length, 1);
  assert.match(valuesOf(request, 'x-request-id')[0] ?? '', /^[0-9a-f]{32}$/);
  assert.deepEqual(valuesOf(request, 'traceparent'), []);
});

void test('an absolute target of the same authority arrives in origin form', async () => {
  assert.equal((await arrives(get('', 'http://app/path?q=1'))).requestLine, 'GET /path?q=1 HTTP/1.1');
  assert.equal((await arrives(get('', 'http://APP'))).requestLine, 'GET / HTTP/1.1');
});

void test('a target that looks like an authority stays a path', async () => {
  for (const target of [
    '//evil/x',
    '/http://evil/x',
    '/@evil',
    '/a/../../b',
    '/%2e%2e/%00',
    '/?a=<>"{}|\\^`[]\'',
  ]) {
    const connection = await RawConnection.connect(capture.sluice.port);
    connection.send(get('', target));
    const { status } = await connection.response();
    connection.close();
    const seen = await capture.takeRequests();
    if (status === 200)
      assert.deepEqual(
        seen.map(({ requestLine }) => requestLine),
        [`GET ${target} HTTP/1.1`],
      );
    else assert.deepEqual([status, seen], [400, []]);
  }
});

void test('HTTP/1.0 arrives as HTTP/1.1, with or without Host', async () => {
  assert.deepEqual(valuesOf(await arrives('GET /accepted HTTP/1.0\r\nHost: app\r\n\r\n'), 'host'), ['app']);
  const request = await arrives('GET /accepted HTTP/1.0\r\n\r\n');
  assert.equal(request.requestLine, 'GET /accepted HTTP/1.1');
});

void test('Expect is answered by the gateway and does not pass', async () => {
  const connection = await RawConnection.connect(capture.sluice.port);
  connection.send(post('Content-Length: 5\r\nExpect: 100-continue\r\n', ''));
  assert.equal((await connection.response()).status, 100);
  assert.equal(await capture.take(), '', 'nothing reaches a worker before the body is whole');
  connection.send('hello');
  assert.equal((await connection.response()).status, 200);
  connection.close();
  const request = await capture.takeOne();
  assert.ok(!names(request).includes('expect'));
  assert.equal(request.body, 'hello');
});

void test('I2: no byte of a request reaches a worker before the request is complete', async () => {
  for (const [first, rest] of [
    [get('').slice(0, -2), '\r\n'],
    [post('Content-Length: 5\r\n', 'hell'), 'o'],
    [post('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n'), '\r\n'],
  ] as const) {
    const connection = await RawConnection.connect(capture.sluice.port);
    connection.send(first);
    assert.equal(await capture.take(), '');
    connection.send(rest);
    assert.equal((await connection.response()).status, 200);
    connection.close();
    await capture.takeOne();
  }
});

void test('fields keep their order, case, repetition and bytes beyond ASCII', async () => {
  const request = await arrives(
    get('X-b: 1\r\nX-A: \xe4\xf6\r\nx-B:2\r\nCookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\n'),
  );
  const own = request.fields.filter(([name]) => /^(x-[ab]|cookie|x-empty)$/i.test(name));
  assert.deepEqual(own, [
    ['X-b', '1'],
    ['X-A', '\xe4\xf6'],
    ['x-B', '2'],
    ['Cookie', 'a=1'],
    ['Cookie', 'b=2'],
    ['X-Empty', ''],
  ]);
});
