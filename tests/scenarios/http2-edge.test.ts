// HTTP/2 beside the rest of the edge: compression, parts of files, and an upgrade while a connection is open.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import zlib from 'node:zlib';
import { eventually } from '../support/eventually.ts';
import { app } from '../support/sluice.ts';
import { ownApp, statusWhen } from './scenario.ts';
import { quick, upgraded } from './upgrades.ts';
import { ask, answerTo, connected, goAway } from './with-http2.ts';
import { missing, startTls } from './with-tls.ts';

const row = '<li class="item"><a href="/products">A product</a></li>\n';
const page = (bytes: number): string => row.repeat(Math.ceil(bytes / row.length)).slice(0, bytes);
const decode = (body: string) => zlib.gunzipSync(Buffer.from(body, 'latin1')).toString();

function temp(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-h2-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

void test('pages are compressed side by side on one connection', { skip: missing }, async (t) => {
  const dir = temp(t);
  fs.writeFileSync(path.join(dir, 'list.html'), page(50_000));
  const config = `[compression]\nenabled = true\n[files.paths]\n"/assets/" = "${dir}"\n`;
  const tls = await startTls(t, { entry: ownApp('sized.js'), config, env: { HOLD_DIR: dir } });
  const session = await connected(t, tls);
  const accept = { 'accept-encoding': 'gzip' };
  const sizes = [3_000, 90_000, 700_000];
  const answers = await Promise.all(
    sizes.map(async (bytes) => ask(session, { ':path': `/page/${bytes}`, ...accept })),
  );
  for (const [at, answer] of answers.entries()) {
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, 'gzip']);
    assert.equal(decode(answer.body), page(sizes[at] ?? 0));
  }
  const head = await ask(session, { ':method': 'HEAD', ':path': '/page/90000', ...accept });
  assert.deepEqual(
    [head.status, head.headers['content-encoding'], head.body, head.code],
    [200, 'gzip', '', http2.constants.NGHTTP2_NO_ERROR],
  );
  const plain = await ask(session, '/page/90000');
  assert.deepEqual([plain.headers['content-encoding'], plain.body], [undefined, page(90_000)]);
  // A part of the file as it is, never of its compressed form.
  const part = await ask(session, { ':path': '/assets/list.html', range: 'bytes=100-199', ...accept });
  assert.deepEqual(
    [part.status, part.headers['content-encoding'], part.body],
    [206, undefined, page(50_000).slice(100, 200)],
  );
  const whole = await ask(session, { ':path': '/assets/list.html', ...accept });
  assert.deepEqual([whole.headers['content-encoding'], decode(whole.body)], ['gzip', page(50_000)]);
  // A client that takes a compressed answer back leaves the others alone.
  const left = session.request({ ':path': '/page/900000', ...accept });
  left.on('response', () => {
    left.close(http2.constants.NGHTTP2_CANCEL);
  });
  const [after] = await Promise.all([ask(session, { ':path': '/page/90000', ...accept }), answerTo(left)]);
  assert.equal(decode(after.body), page(90_000));
});

void test(
  'I3: an upgrade answers all requests of an open connection, and tells the client to send no more',
  { skip: missing },
  async (t) => {
    const tls = await startTls(t, { entry: app('spin.js'), env: quick });
    const { sluice } = tls;
    const session = await connected(t, tls);
    const told = goAway(session);
    const slow = [1, 2, 3].map(async () => ask(session, '/sleep?ms=1500'));
    await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'a request in a worker');
    const before = await sluice.gatewayPid();
    const upgrading = upgraded(sluice);
    // Asks on for as long as the gateway lets it.
    const results: { status: number; code: number }[] = [];
    const asking = (async () => {
      while (told.code() === undefined && !session.destroyed && !session.closed) {
        const { status, code } = await ask(session, '/spin?ms=1');
        results.push({ status, code });
      }
    })();
    assert.notEqual(await upgrading, before);
    const fresh = await connected(t, tls);
    assert.equal((await ask(fresh, '/spin?ms=1')).status, 200);
    await eventually(() => told.code() !== undefined || session.destroyed, { what: 'the GOAWAY' });
    await asking;
    assert.equal(told.code(), http2.constants.NGHTTP2_NO_ERROR);
    assert.deepEqual(
      (await Promise.all(slow)).map(({ status }) => status),
      [200, 200, 200],
    );
    // A request that came after the GOAWAY was refused unseen, which clients ask again by themselves.
    const bad = results.filter(
      ({ status, code }) => status !== 200 && code !== http2.constants.NGHTTP2_REFUSED_STREAM,
    );
    assert.deepEqual(bad, []);
    assert.ok(results.length > 0);
  },
);
