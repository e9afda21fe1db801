// Compression by the gateway: each encoding, what is left alone, and that a stream stays a stream.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import zlib from 'node:zlib';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, bytesOf, ownApp, recordOf, running, sent } from './scenario.ts';

const row = '<li class="item"><a href="/products">A product</a></li>\n';
const page = (bytes: number): string => row.repeat(Math.ceil(bytes / row.length)).slice(0, bytes);
/** The path of a page with these headers. */
const withHeaders = (bytes: number, headers: Record<string, string>): string =>
  `/page/${bytes}?${encodeURIComponent(JSON.stringify(headers))}`;
const gzip = 'Accept-Encoding: gzip\r\n';

async function start(
  t: TestContext,
  lines: string[] = [],
  more: { workers?: number; files?: string; env?: Record<string, string> } = {},
): Promise<{ sluice: Sluice; release: (name: string) => void }> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-sized-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const sluice = await running(t, {
    entry: ownApp('sized.js'),
    env: { HOLD_DIR: dir, ...more.env },
    workers: more.workers ?? 1,
    config: ['[compression]', 'enabled = true', ...lines, more.files ?? ''].join('\n'),
  });
  const release = (name: string): void => {
    fs.writeFileSync(path.join(dir, name), '');
  };
  return { sluice, release };
}

const pick = (response: RawResponse, ...names: string[]): (string | undefined)[] =>
  names.map((name) => response.headers.get(name));

async function metric(sluice: Sluice, name: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  const line = text.split('\n').find((line) => line.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

void test('a page comes in the encoding that its client likes best', async (t) => {
  const { sluice } = await start(t);
  for (const [accept, encoding, decode] of [
    ['gzip, deflate', 'gzip', zlib.gunzipSync],
    ['gzip, br', 'br', zlib.brotliDecompressSync],
    ['br;q=0.5, gzip;q=0.9', 'gzip', zlib.gunzipSync],
  ] as const) {
    const response = await ask(sluice, '/page/200000', { headers: `Accept-Encoding: ${accept}\r\n` });
    assert.deepEqual(pick(response, 'content-encoding', 'vary'), [encoding, 'Accept-Encoding']);
    assert.equal(decode(response.body).toString(), page(200_000));
    assert.ok(response.body.length < 20_000);
  }
  for (const accept of ['', 'Accept-Encoding: identity\r\n', 'Accept-Encoding: gzip;q=0, deflate\r\n']) {
    const response = await ask(sluice, '/page/200000', { headers: accept });
    assert.deepEqual(pick(response, 'content-encoding', 'vary', 'content-length'), [
      undefined,
      'Accept-Encoding',
      '200000',
    ]);
    assert.equal(response.body.toString(), page(200_000));
  }
  assert.equal(await metric(sluice, 'sluice_compression_input_bytes_total'), 600_000);
  assert.ok((await metric(sluice, 'sluice_compression_cpu_seconds_total')) > 0);
  assert.equal(await metric(sluice, 'sluice_compression_fallbacks_total'), 0);
});

void test('zstd is what a browser gets that accepts all', async (t) => {
  const { sluice } = await start(t);
  const headers = 'Accept-Encoding: gzip, deflate, br, zstd\r\n';
  const response = await ask(sluice, '/page/200000', { headers });
  assert.equal(response.headers.get('content-encoding'), 'zstd');
  assert.deepEqual([...response.body.subarray(0, 4)], [0x28, 0xb5, 0x2f, 0xfd]);
  const decoded = spawnSync('zstd', ['-dc'], { input: response.body, maxBuffer: 1_000_000 });
  if (decoded.error) return t.skip('zstd is not installed');
  assert.equal(decoded.stdout.toString(), page(200_000));
});

void test('what a worker has flushed reaches the client before the render goes on', async (t) => {
  const { sluice, release } = await start(t);
  for (const [encoding, decoder] of [
    ['gzip', zlib.createGunzip],
    ['br', zlib.createBrotliDecompress],
  ] as const) {
    const connection = await sent(sluice, `/pieces/${encoding}`, `Accept-Encoding: ${encoding}\r\n`);
    await connection.untilBytes('\r\n\r\n');
    // The pieces as they come, without the sizes of their chunks.
    const first = `first half of ${encoding}`;
    const seen = await eventually(
      async () => {
        const at = connection.received.indexOf('\r\n');
        const length = Number.parseInt(connection.received.subarray(0, Math.max(at, 0)).toString(), 16);
        const piece = connection.received.subarray(at + 2, at + 2 + length);
        if (!(length > 0) || piece.length < length) return undefined;
        const text = await new Promise<string>((resolve) => {
          const stream = decoder();
          stream.once('data', (data: Buffer) => resolve(data.toString()));
          stream.write(piece);
        });
        return text;
      },
      { what: 'the first half' },
    );
    assert.equal(seen, first);
    connection.close();
    release(encoding);
    const whole = await ask(sluice, `/pieces/${encoding}`, { headers: `Accept-Encoding: ${encoding}\r\n` });
    const decode = encoding === 'gzip' ? zlib.gunzipSync : zlib.brotliDecompressSync;
    assert.equal(decode(whole.body).toString(), first + page(100_000));
    assert.equal(whole.trailers.get('x-end'), 'yes');
  }
});

void test('an answer to HEAD has the head of the one to GET', async (t) => {
  const { sluice } = await start(t);
  const target = withHeaders(5000, { etag: '"v1"', 'accept-ranges': 'bytes' });
  const get = await ask(sluice, target, { headers: gzip });
  const connection = await sent(sluice, '/page/1');
  await connection.response();
  connection.send(bytesOf(target, gzip, 'HEAD') + bytesOf('/page/2'));
  const head = await connection.response({ toHead: true });
  const names = ['content-type', 'content-encoding', 'vary', 'etag', 'accept-ranges', 'content-length'];
  assert.deepEqual(pick(head, ...names), pick(get, ...names));
  assert.deepEqual(pick(head, ...names).slice(1), [
    'gzip',
    'Accept-Encoding',
    'W/"v1"',
    undefined,
    undefined,
  ]);
  assert.equal((await connection.response()).body.toString(), page(2));
  connection.close();
});

void test('a client that has the page compressed is told so by the tag that it has', async (t) => {
  const { sluice } = await start(t);
  const target = withHeaders(5000, { etag: '"v1"' });
  const known = await ask(sluice, target, { headers: `${gzip}If-None-Match: W/"v1"\r\n` });
  assert.deepEqual([known.status, ...pick(known, 'etag', 'vary')], [304, 'W/"v1"', 'Accept-Encoding']);
  const plain = await ask(sluice, target, { headers: 'If-None-Match: "v1"\r\n' });
  assert.deepEqual([plain.status, ...pick(plain, 'etag', 'vary')], [304, '"v1"', undefined]);
});

void test('what is compressed, a part, small, an image or not to be transformed is left alone', async (t) => {
  const { sluice } = await start(t, ['exclude = ["/page/7777"]']);
  for (const target of [
    withHeaders(5000, { 'content-encoding': 'br' }),
    withHeaders(5000, { 'content-range': 'bytes 0-4999/9000' }),
    withHeaders(5000, { 'content-type': 'image/png' }),
    withHeaders(5000, { 'cache-control': 'no-transform' }),
    '/page/1000',
    '/page/7777',
    '/page/%37777',
  ]) {
    const response = await ask(sluice, target, { headers: gzip });
    const expected = target.includes('content-encoding') ? 'br' : undefined;
    assert.deepEqual(pick(response, 'content-encoding', 'vary'), [expected, undefined], target);
    assert.equal(String(response.body.length), response.headers.get('content-length'));
  }
});

void test('files without a compressed sibling are compressed, and parts of them are not', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-files-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  fs.writeFileSync(path.join(dir, 'app.js'), page(300_000));
  const { sluice } = await start(t, [], { files: `[files]\npaths = { "/assets/" = "${dir}" }` });
  const whole = await ask(sluice, '/assets/app.js', { headers: gzip });
  assert.deepEqual(pick(whole, 'content-encoding', 'accept-ranges', 'content-length'), [
    'gzip',
    undefined,
    undefined,
  ]);
  assert.match(whole.headers.get('etag') ?? '', /^W\/"/);
  assert.equal(zlib.gunzipSync(whole.body).toString(), page(300_000));
  const part = await ask(sluice, '/assets/app.js', { headers: `${gzip}Range: bytes=0-4999\r\n` });
  assert.deepEqual([part.status, part.headers.get('content-encoding')], [206, undefined]);
  assert.equal(part.body.toString(), page(5000));
  const tag = whole.headers.get('etag') ?? '';
  const known = await ask(sluice, '/assets/app.js', { headers: `${gzip}If-None-Match: ${tag}\r\n` });
  assert.deepEqual([known.status, known.headers.get('etag')], [304, tag]);
});

void test('more answers at once than allowed are sent as they are', async (t) => {
  const { sluice, release } = await start(t, [], { workers: 2, env: bounds({ compression_answers_max: 1 }) });
  const held = await sent(sluice, '/pieces/held', gzip);
  await held.untilBytes('\r\n\r\n');
  const other = await ask(sluice, '/page/5000', { headers: gzip });
  assert.deepEqual(pick(other, 'content-encoding', 'vary'), [undefined, 'Accept-Encoding']);
  assert.equal(other.body.toString(), page(5000));
  assert.equal(await metric(sluice, 'sluice_compression_fallbacks_total'), 1);
  release('held');
  await held.untilBytes('x-end: yes');
  held.close();
  const next = await ask(sluice, '/page/5000', { headers: gzip });
  assert.equal(next.headers.get('content-encoding'), 'gzip');
});

void test('a client that leaves in the middle leaves its place to the next', async (t) => {
  const { sluice } = await start(t, [], { workers: 2, env: bounds({ compression_answers_max: 1 }) });
  const leaving = await sent(sluice, '/pieces/left', gzip);
  await leaving.untilBytes('\r\n\r\n');
  leaving.close();
  assert.equal((await recordOf(sluice, '/pieces/left'))['outcome'], 'client_gone_in_service');
  const next = await ask(sluice, '/page/5000', { headers: gzip });
  assert.equal(next.headers.get('content-encoding'), 'gzip');
  assert.equal(zlib.gunzipSync(next.body).toString(), page(5000));
});

void test('a client that reads slowly gets every byte in its order, and the worker waits for none', async (t) => {
  const { sluice } = await start(t, [], { env: bounds({ response_memory_bytes_max: 65_536 }) });
  const plain = await ask(sluice, '/noise/6000000');
  const connection = await RawConnection.connect(sluice.port);
  connection.pause();
  connection.send(bytesOf('/noise/6000000', gzip));
  await eventually(async () => (await metric(sluice, 'sluice_temp_bytes')) > 1_000_000, {
    what: 'bytes set aside for the slow client',
  });
  assert.equal((await ask(sluice, '/page/5000')).status, 200, 'the only worker is free again');
  connection.resume();
  const slow = await connection.response({ deadlineMs: 30_000 });
  assert.equal(slow.headers.get('content-encoding'), 'gzip');
  assert.ok(zlib.gunzipSync(slow.body).equals(plain.body));
  connection.close();
});

void test('nothing is compressed unless the config says so', async (t) => {
  const sluice = await running(t, { entry: ownApp('sized.js'), workers: 1, env: { HOLD_DIR: os.tmpdir() } });
  const response = await ask(sluice, '/page/5000', { headers: gzip });
  assert.deepEqual(pick(response, 'content-encoding', 'vary', 'content-length'), [
    undefined,
    undefined,
    '5000',
  ]);
});
