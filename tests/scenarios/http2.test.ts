// HTTP/2 on the port of TLS: requests side by side on one connection, each as HTTP/1.1 would have it.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { once } from 'node:events';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app } from '../support/sluice.ts';
import { Hold, ownApp, recordOf, STRICT, statusWhen } from './scenario.ts';
import { answerTo, ask, connected, goAway } from './with-http2.ts';
import { missing, startTls, tlsConnection } from './with-tls.ts';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = http2.constants;

void test('an app behind HTTP/2 sees an ordinary request of HTTP/1.1', { skip: missing }, async (t) => {
  const gateway = await startTls(t, { entry: app('echo.js') });
  const session = await connected(t, gateway);
  assert.equal(session.alpnProtocol, 'h2');
  const head = {
    ':method': 'POST',
    ':path': '/a?b=c',
    cookie: ['a=1', 'b=2'],
    'x-own': 'yes',
    te: 'trailers',
  };
  const answer = await ask(session, head, 'the body');
  const seen = JSON.parse(answer.body) as Record<string, string> & { headers: Record<string, string> };
  assert.deepEqual([answer.status, answer.headers['x-request-id']], [200, seen.headers['x-request-id']]);
  assert.deepEqual(
    [seen['method'], seen['url'], seen['httpVersion'], seen['body']],
    ['POST', '/a?b=c', '1.1', 'the body'],
  );
  const { host, cookie, te } = seen.headers;
  assert.deepEqual([host, cookie, te], [`localhost:${gateway.sluice.port}`, 'a=1; b=2', undefined]);
  assert.deepEqual([seen.headers['x-own'], seen.headers['x-forwarded-proto']], ['yes', 'https']);
  assert.equal(seen.headers['content-length'], '8');
});

void test('I1: two requests of one connection are in one worker in turn', { skip: missing }, async (t) => {
  const hold = new Hold(t);
  const gateway = await startTls(t, { entry: hold.app, env: hold.env });
  const session = await connected(t, gateway);
  const first = ask(session, '/hold/first');
  await hold.began('/hold/first');
  const second = ask(session, '/second');
  await statusWhen(gateway.sluice, ({ queue }) => queue.length === 1, 'the second in the queue');
  assert.deepEqual(hold.journal, ['begin /hold/first']);
  hold.release('first');
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.deepEqual(hold.journal, ['begin /hold/first', 'end /hold/first', 'begin /second', 'end /second']);
  assert.equal((await gateway.sluice.status()).connections, 1);
});

void test(
  'I1: a cancelled request keeps its slot until the app has ended it',
  { skip: missing },
  async (t) => {
    const hold = new Hold(t);
    const gateway = await startTls(t, { entry: hold.app, env: hold.env });
    const session = await connected(t, gateway);
    const left = session.request({ ':path': '/hold/left' });
    const queued = session.request({ ':path': '/queued' });
    await hold.began('/hold/left');
    await statusWhen(gateway.sluice, ({ queue }) => queue.length === 1, 'the other in the queue');
    for (const stream of [left, queued]) stream.on('error', () => {}).close(NGHTTP2_CANCEL);
    assert.equal((await recordOf(gateway.sluice, '/hold/left'))['outcome'], 'client_gone_in_service');
    assert.equal((await recordOf(gateway.sluice, '/queued'))['outcome'], 'client_gone_queued');
    const next = ask(session, '/next');
    await statusWhen(gateway.sluice, ({ queue }) => queue.length === 1, 'the next in the queue');
    assert.deepEqual(hold.journal, ['begin /hold/left']);
    hold.release('left');
    assert.equal((await next).status, 200);
    assert.deepEqual(hold.journal, ['begin /hold/left', 'end /hold/left', 'begin /next', 'end /next']);
  },
);

void test('hints, trailers and answers without a body come over HTTP/2', { skip: missing }, async (t) => {
  const gateway = await startTls(t, { entry: app('stream.js') });
  const session = await connected(t, gateway);
  const hinted = await ask(session, '/early-hints');
  assert.deepEqual(
    hinted.interim.map((head) => [head[':status'], head['link']]),
    [[103, '</style.css>; rel=preload; as=style']],
  );
  assert.equal(hinted.body, 'hinted\n');
  const trailed = await ask(session, '/trailers');
  assert.deepEqual([trailed.body, trailed.trailers['x-checksum']], ['body with a trailer\n', 'abc']);
  assert.equal(trailed.headers['trailer'], 'x-checksum');
  const head = await ask(session, { ':path': '/big?bytes=5000', ':method': 'HEAD' });
  assert.deepEqual([head.status, head.body], [200, '']);
  const none = await ask(session, '/no-content');
  const same = await ask(session, '/not-modified');
  assert.deepEqual([none.status, none.headers['content-length'], same.status], [204, undefined, 304]);
  const streamed = await ask(session, '/stream?chunks=20&interval_ms=2&bytes=100');
  assert.equal(streamed.body.length, 2000);
  for (const { code } of [hinted, trailed, head, none, same, streamed]) assert.equal(code, NGHTTP2_NO_ERROR);
});

void test(
  'trailers of a request reach the app, and 100 Continue the client',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: ownApp('interim.js') });
    const session = await connected(t, gateway);
    const stream = session.request(
      { ':method': 'POST', ':path': '/', expect: '100-continue' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'x-sum': '42', 'content-length': '7', authorization: 'forged' });
    });
    const answer = answerTo(stream);
    await once(stream, 'continue');
    stream.end('x'.repeat(300_000));
    assert.deepEqual(JSON.parse((await answer).body), { length: 300_000, trailers: { 'x-sum': '42' } });
  },
);

void test('I2: a large body is buffered completely before a worker gets it', { skip: missing }, async (t) => {
  const hold = new Hold(t);
  const gateway = await startTls(t, { entry: hold.app, env: hold.env });
  const session = await connected(t, gateway);
  const size = 5_000_000;
  const stream = session.request({ ':method': 'POST', ':path': '/count' });
  const answer = answerTo(stream);
  stream.write(Buffer.alloc(size - 1));
  await eventually(() => stream.writableLength === 0, { what: 'all but a byte on its way' });
  assert.equal((await ask(session, '/meanwhile')).status, 200);
  assert.deepEqual(hold.journal, ['begin /meanwhile', 'end /meanwhile']);
  stream.end('x');
  assert.equal((await answer).headers['x-body-bytes'], String(size));
});

void test(
  'I2: a client that does not read occupies no worker, and gets the full response later',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('spin.js') });
    const session = await connected(t, gateway);
    const sizes = [50_000, 700_000, 3_000_000, 3_000_001];
    const streams = sizes.map((bytes) => session.request({ ':path': `/big?bytes=${bytes}` }));
    for (const stream of streams) stream.pause();
    await statusWhen(
      gateway.sluice,
      ({ workers }) => workers[0]?.requests_total === sizes.length && workers[0].state === 'ready',
      'a worker that has said everything',
    );
    const answers = await Promise.all(streams.map(answerTo));
    assert.deepEqual(
      answers.map(({ body, code }) => [body.length, code]),
      sizes.map((size) => [size, NGHTTP2_NO_ERROR]),
    );
  },
);

void test(
  'a worker that dies in the middle of an answer ends the stream alone',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('faulty.js') });
    const session = await connected(t, gateway);
    const broken = await ask(session, '/half-then-exit');
    assert.equal(broken.code, NGHTTP2_INTERNAL_ERROR);
    const refused = await ask(session, '/exit');
    assert.deepEqual([refused.status, refused.headers['x-sluice-error']], [502, 'SLU-WORKER-DIED']);
    assert.equal((await ask(session, '/')).status, 200);
  },
);

void test('a client that leaves an event stream has been answered', { skip: missing }, async (t) => {
  const gateway = await startTls(t, { entry: app('stream.js') });
  const session = await connected(t, gateway);
  const stream = session.request({ ':path': '/events' });
  await once(stream, 'data');
  stream.close(NGHTTP2_CANCEL);
  assert.equal((await recordOf(gateway.sluice, '/events'))['outcome'], 'answered');
});

void test('a WebSocket is a stream beside other requests', { skip: missing }, async (t) => {
  const gateway = await startTls(t, { entry: app('stream.js') });
  const session = await connected(t, gateway);
  assert.equal((await ask(session, '/')).status, 200);
  assert.equal(session.remoteSettings.enableConnectProtocol, true);
  const head = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':path': '/echo',
    'sec-websocket-version': '13',
  };
  const socket = session.request(head);
  const [answered] = (await once(socket, 'response')) as [http2.IncomingHttpHeaders];
  assert.deepEqual([answered[':status'], answered['sec-websocket-accept']], [200, undefined]);
  let echoed = 0;
  socket.on('data', (piece: Buffer) => (echoed += piece.length));
  for (const size of [5, 400_000]) {
    const before = echoed;
    socket.write(Buffer.alloc(size, 'x'));
    await eventually(() => echoed === before + size, { what: `${size} bytes back` });
  }
  assert.equal((await ask(session, '/stream?chunks=2')).status, 200);
  socket.end();
  await once(socket, 'close');
  assert.equal(socket.rstCode, NGHTTP2_NO_ERROR);
  assert.equal((await recordOf(gateway.sluice, '/echo'))['outcome'], 'upgraded');
  // An answer that is no handshake must not look like one.
  const plain = await startTls(t, { entry: app('echo.js') });
  const refused = await ask(await connected(t, plain), { ...head, ':path': '/' });
  assert.equal(refused.status, 501);
  const other = await ask(session, { ...head, ':protocol': 'connect-udp' });
  assert.deepEqual([other.status, other.headers['x-sluice-error']], [501, 'SLU-METHOD-UNSUPPORTED']);
});

void test('I3: a drain answers all requests of a connection, and closes it', { skip: missing }, async (t) => {
  const hold = new Hold(t);
  const gateway = await startTls(t, { entry: hold.app, env: hold.env });
  const [session, idle] = [await connected(t, gateway), await connected(t, gateway)];
  assert.equal((await ask(idle, '/idle')).status, 200);
  const [told, idleTold] = [goAway(session), goAway(idle)];
  const answers = [ask(session, '/hold/first')];
  await hold.began('/hold/first');
  for (let at = 0; at < 20; at++) answers.push(ask(session, `/queued/${at}`));
  await statusWhen(gateway.sluice, ({ queue }) => queue.length === 20, 'twenty queued requests');
  gateway.sluice.signal('SIGTERM');
  await eventually(() => told.code() === NGHTTP2_NO_ERROR, { what: 'GOAWAY' });
  await eventually(() => idle.closed || idle.destroyed, { what: 'the end of the idle connection' });
  assert.equal(idleTold.code(), NGHTTP2_NO_ERROR);
  hold.release('first');
  for (const { status, code } of await Promise.all(answers)) assert.deepEqual([status, code], [200, 0]);
  assert.equal((await gateway.sluice.finished()).code, 0);
});

void test('an idle connection is told before it ends', { skip: missing }, async (t) => {
  const env = { SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '300' };
  const gateway = await startTls(t, { entry: app('echo.js'), env });
  const session = await connected(t, gateway);
  const told = goAway(session);
  assert.equal((await ask(session, '/')).status, 200);
  await eventually(() => session.destroyed, { what: 'the end of the connection' });
  assert.equal(told.code(), NGHTTP2_NO_ERROR);
  await statusWhen(gateway.sluice, ({ connections }) => connections === 0, 'no connection');
});

void test(
  'the port speaks HTTP/1.1 to those who ask for it, and alone where HTTP/2 is off',
  { skip: missing },
  async (t) => {
    const both = await startTls(t, { entry: app('echo.js') });
    const socket = await tlsConnection(both.sluice, both.ca);
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
    const off = await startTls(t, {
      entry: app('echo.js'),
      flags: STRICT,
      env: { SLUICE_SERVER_HTTP2: 'false' },
    });
    const refused = http2.connect(`https://localhost:${off.sluice.port}`, { ca: off.ca });
    const [error] = (await once(refused, 'error')) as [Error];
    assert.match(error.message, /alert|protocol/i);
  },
);
