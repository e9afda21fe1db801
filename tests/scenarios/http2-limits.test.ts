// What one client of HTTP/2 may do to the others: requests taken back in a flood, heads without an end, bodies without measure.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import tls from 'node:tls';
import { once } from 'node:events';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { app } from '../support/sluice.ts';
import { Hold, ownApp, statusWhen } from './scenario.ts';
import { answerTo, ask, connected, fields, frame, FRAME, Frames, GET } from './with-http2.ts';
import { missing, startTls } from './with-tls.ts';

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = http2.constants;

const END_STREAM = 1;
const END_HEADERS = 4;

/** Requests that are taken back at once, `count` of them. */
function takenBack(count: number): Buffer {
  const cancel = Buffer.alloc(4);
  cancel.writeUInt32BE(NGHTTP2_CANCEL);
  const pairs = Array.from({ length: count }, (_, at) => {
    const stream = 2 * at + 1;
    return [
      frame(FRAME.headers, END_STREAM | END_HEADERS, stream, fields(GET)),
      frame(FRAME.reset, 0, stream, cancel),
    ];
  });
  return Buffer.concat(pairs.flat());
}

void test(
  'I6: a flood of cancelled requests ends its connection, and no other',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('echo.js') });
    const other = await connected(t, gateway);
    const flood = await Frames.connect(t, gateway);
    flood.send(takenBack(5_000));
    assert.equal(await flood.ended(), NGHTTP2_ENHANCE_YOUR_CALM);
    assert.equal((await ask(other, '/')).status, 200);
    const snapshot = await statusWhen(gateway.sluice, ({ queue }) => queue.length === 0, 'an empty queue');
    assert.ok((snapshot.workers[0]?.requests_total ?? 0) < 400, 'most of them never reached a worker');
  },
);

void test('I6: many successive cancelled requests end their connection', { skip: missing }, async (t) => {
  const hold = new Hold(t);
  const gateway = await startTls(t, { entry: hold.app, env: hold.env });
  const [session, other] = [await connected(t, gateway), await connected(t, gateway)];
  let told: number | undefined;
  session.on('goaway', (code: number) => (told = code));
  const held = ask(other, '/hold/first');
  await hold.began('/hold/first');
  for (let round = 0; round < 100 && !session.destroyed && told === undefined; round++) {
    const streams = Array.from({ length: 40 }, (_, at) => {
      return session.request({ ':path': `/back/${round}/${at}` }).on('error', () => {});
    });
    // Each is accepted before it is taken back. The GOAWAY may arrive between two rounds; it destroys the session.
    await statusWhen(
      gateway.sluice,
      ({ queue }) => queue.length === 40 || session.destroyed,
      'forty in the queue',
    );
    for (const stream of streams) stream.close(NGHTTP2_CANCEL);
    await statusWhen(gateway.sluice, ({ queue }) => queue.length === 0, 'none in the queue');
  }
  await eventually(() => session.destroyed, { what: 'the end of the connection' });
  assert.equal(told, NGHTTP2_ENHANCE_YOUR_CALM);
  hold.release('first');
  assert.equal((await held).status, 200);
  assert.deepEqual(hold.journal, ['begin /hold/first', 'end /hold/first']);
});

void test(
  'I6: headers that continue in endless CONTINUATION frames are cut off',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('echo.js') });
    const flood = await Frames.connect(t, gateway);
    flood.send(frame(FRAME.headers, END_STREAM, 1, fields(GET)));
    for (let at = 0; at < 1_000; at++)
      flood.send(frame(FRAME.continuation, 0, 1, fields([[`x-${at}`, 'x']])));
    assert.equal(await flood.ended(), NGHTTP2_ENHANCE_YOUR_CALM);
  },
);

void test(
  'heads over the limits are refused as with HTTP/1, and the connection goes on',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('echo.js') });
    const session = await connected(t, gateway);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, 'x']));
    const cases: [http2.OutgoingHttpHeaders, number, string | undefined][] = [
      [many, 431, 'SLU-HEADERS-TOO-MANY'],
      [{ 'x-a': 'x'.repeat(17_000) }, 431, 'SLU-HEADERS-TOO-LARGE'],
      [{ ':path': `/${'x'.repeat(16_400)}` }, 414, 'SLU-TARGET-TOO-LONG'],
      [{ host: 'other.example' }, 400, 'SLU-HOST-INVALID'],
      [{ x_forwarded_for: '1.2.3.4' }, 400, 'SLU-HEADER-ALIAS'],
      [{ ':method': 'WRONG' }, 501, 'SLU-METHOD-UNSUPPORTED'],
      // Out of all proportion: the protocol's own layer refuses it.
      [{ 'x-a': 'x'.repeat(40_000) }, 431, undefined],
    ];
    for (const [head, status, code] of cases) {
      const answer = await ask(session, { ':path': '/', ':authority': 'localhost', ...head });
      assert.deepEqual([answer.status, answer.headers['x-sluice-error']], [status, code]);
    }
    assert.equal((await ask(session, '/')).status, 200);
  },
);

void test('a body that is too large or too slow ends its stream alone', { skip: missing }, async (t) => {
  const env = { SLUICE_SERVER_BODY_BYTES_MAX: '100000', ...bounds({ body_grace_ms: 300 }) };
  const gateway = await startTls(t, { entry: app('spin.js'), env });
  const session = await connected(t, gateway);
  const post = { ':method': 'POST', ':path': '/upload' };
  const slow = session.request(post);
  slow.write('x');
  const late = answerTo(slow);
  const declared = session.request({ ...post, 'content-length': '100001' });
  assert.equal((await answerTo(declared)).headers['x-sluice-error'], 'SLU-BODY-TOO-LARGE');
  const grown = await ask(session, post, 'x'.repeat(100_001));
  assert.deepEqual([grown.status, grown.code], [413, NGHTTP2_NO_ERROR]);
  assert.equal((await ask(session, post, 'x'.repeat(100_000))).body, '100000\n');
  const { status, headers } = await late;
  assert.deepEqual([status, headers['x-sluice-error']], [408, 'SLU-BODY-TOO-SLOW']);
});

void test(
  'I6: large bodies of one connection wait for each other above the limit of the connection',
  { skip: missing },
  async (t) => {
    const hold = new Hold(t);
    const env = {
      ...hold.env,
      SLUICE_SERVER_BODY_BYTES_MAX: '1000000',
      ...bounds({ http2_bodies_bytes_max: 0 }),
    };
    const gateway = await startTls(t, { entry: hold.app, env });
    const [session, other] = [await connected(t, gateway), await connected(t, gateway)];
    const post = (from: http2.ClientHttp2Session, path: string, length: number) => {
      const stream = from.request({ ':method': 'POST', ':path': path });
      stream.end(Buffer.alloc(length));
      return { stream, answer: answerTo(stream) };
    };
    const first = post(session, '/hold/first', 900_000);
    await hold.began('/hold/first');
    const second = post(session, '/second', 900_000);
    const small = post(session, '/small', 1_000);
    const third = post(other, '/third', 900_000);
    await statusWhen(gateway.sluice, ({ queue }) => queue.length === 2, 'the small one and that of another');
    assert.ok(second.stream.writableLength > 0, 'the gateway has not asked for the rest');
    hold.release('first');
    for (const { answer } of [first, second, small, third]) assert.equal((await answer).status, 200);
    assert.equal(hold.journal.at(-1), 'end /second');
  },
);

void test(
  'more requests than a connection may have under way wait at the client',
  { skip: missing },
  async (t) => {
    const hold = new Hold(t);
    const env = { ...hold.env, ...bounds({ http2_streams_max: 2 }) };
    const gateway = await startTls(t, { entry: hold.app, env });
    const session = await connected(t, gateway);
    await ask(session, '/settings');
    assert.equal(session.remoteSettings.maxConcurrentStreams, 2);
    const answers = [ask(session, '/hold/first')];
    await hold.began('/hold/first');
    for (let at = 0; at < 4; at++) answers.push(ask(session, `/${at}`));
    await statusWhen(gateway.sluice, ({ queue }) => queue.length === 1, 'one in the queue');
    hold.release('first');
    for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
  },
);

void test('a client that says nothing after its handshake is cut off', { skip: missing }, async (t) => {
  const gateway = await startTls(t, {
    entry: app('echo.js'),
    env: bounds({ headers_timeout_ms: 300 }),
  });
  const at = { port: gateway.sluice.port, host: '127.0.0.1', servername: 'localhost' };
  const socket = tls.connect({ ...at, ca: gateway.ca, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  socket.resume();
  const silent = await Frames.connect(t, gateway);
  await once(socket, 'close');
  assert.equal(await silent.ended(), NGHTTP2_NO_ERROR);
});

void test(
  'a client that takes nothing is cut off, and its requests are over',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, {
      entry: ownApp('corners.js'),
      env: { SLUICE_SERVER_SEND_TIMEOUT_MS: '500' },
    });
    const session = await connected(t, gateway);
    const stream = session.request({ ':path': '/pieces?count=40&bytes=100000' });
    stream.pause();
    stream.on('error', () => {});
    await once(stream, 'close');
    assert.equal(stream.rstCode, NGHTTP2_CANCEL);
    assert.equal((await ask(session, '/pieces?count=1&bytes=10')).status, 200);
  },
);
