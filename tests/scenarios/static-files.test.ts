// Files that the gateway sends itself: what is sent and how, and what is left to the app, which is `echo.js`, so that an
// answer in JSON with `url` is the app's. What clients and the disk may do meanwhile is in `files-in-transit.test.ts`.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { app, runSluice } from '../support/sluice.ts';
import { ask, bytesOf, recordOf } from './scenario.ts';
import { isFromApp, pick, script, Site, tagOf } from './site.ts';

void test('a file is sent without a worker, with all that a browser needs to know', async (t) => {
  const site = new Site(t).write('site/build/a.css', 'a{}');
  const sluice = await site.start(t);
  const response = await ask(sluice, '/assets/app.js?v=1');
  assert.equal(response.status, 200);
  assert.equal(response.body.toString(), script);
  assert.deepEqual(
    pick(response, 'content-type', 'content-encoding', 'accept-ranges', 'vary', 'cache-control'),
    ['text/javascript; charset=utf-8', undefined, 'bytes', 'Accept-Encoding', 'public, max-age=0'],
  );
  assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(script)));
  assert.match(tagOf(response), /^"[0-9a-f.-]+"$/);
  const { mtime } = fs.statSync(site.path('site/app.js'));
  assert.equal(response.headers.get('last-modified'), mtime.toUTCString());
  assert.ok(Math.abs(Date.parse(response.headers.get('date') ?? '') - Date.now()) < 60_000);
  const immutable = await ask(sluice, '/assets/build/a.css');
  assert.deepEqual(pick(immutable, 'cache-control', 'content-type'), [
    'public, max-age=31536000, immutable',
    'text/css; charset=utf-8',
  ]);

  const record = await recordOf(sluice, '/assets/app.js?v=1');
  assert.deepEqual(
    [
      record['outcome'],
      record['status'],
      record['worker'] ?? null,
      record['bytes_out'],
      record['request_id'],
    ],
    ['edge', 200, null, Buffer.byteLength(script), response.headers.get('x-request-id')],
  );
  assert.equal(record['class'] ?? '', '', 'files are no class');
  assert.equal((await sluice.status()).workers[0]?.requests_total, 0);
});

void test('an answer to HEAD has the headers of the one to GET, and no body', async (t) => {
  const sluice = await new Site(t).start(t);
  const whole = await ask(sluice, '/assets/app.js');
  const connection = await RawConnection.connect(sluice.port);
  // The request behind it would meet a body that should not be there.
  connection.send(bytesOf('/assets/app.js', 'Range: bytes=0-4\r\n', 'HEAD') + bytesOf('/assets/app.js'));
  const head = await connection.response({ toHead: true });
  assert.equal(head.status, 200);
  const names = ['content-length', 'content-type', 'etag', 'last-modified', 'cache-control', 'accept-ranges'];
  assert.deepEqual(pick(head, ...names), pick(whole, ...names));
  assert.equal((await connection.response()).body.toString(), script);
  connection.close();
});

void test('what is no file there goes to the app, with its method and its body', async (t) => {
  const site = new Site(t).write('site/dir/index.html', 'index');
  const sluice = await site.start(t);
  const targets = [
    '/assets/missing.js',
    '/assets/',
    '/assets',
    '/assets/dir',
    '/assets/dir/',
    '/assetsapp.js',
    '/',
  ];
  for (const target of targets) {
    const response = await ask(sluice, target);
    assert.ok(isFromApp(response), `${target} got ${response.status} ${response.body.toString()}`);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const response = await ask(sluice, '/assets/app.js', { method, body: 'x=1' });
    const seen = JSON.parse(response.body.toString()) as { method: string; body: string };
    assert.deepEqual([seen.method, seen.body], [method, 'x=1']);
  }
  const withBody = JSON.parse((await ask(sluice, '/assets/missing.js', { body: 'x=1' })).body.toString()) as {
    body: string;
  };
  assert.equal(withBody.body, 'x=1');
  assert.equal((await ask(sluice, '/assets/app.js', { body: 'x=1' })).body.toString(), script);
  const upgrade = await ask(sluice, '/assets/app.js', {
    headers: 'Connection: upgrade\r\nUpgrade: echo\r\n',
  });
  assert.ok(isFromApp(upgrade), 'an upgrade is for the app');
});

void test('nothing outside of the directory and nothing hidden is sent, however it is written', async (t) => {
  const site = new Site(t)
    .write('site/.env', 'secret')
    .write('site/.git/config', 'secret')
    .write('site/sub/b.js', 'b');
  site.write('site/.well-known/security.txt', 'Contact');
  fs.symlinkSync('../secret.txt', site.path('site/link.txt'));
  fs.symlinkSync(site.path('secret.txt'), site.path('site/absolute.txt'));
  fs.symlinkSync('..', site.path('site/up'));
  fs.symlinkSync('sub', site.path('site/inside'));
  fs.symlinkSync('.env', site.path('site/env.txt'));
  const sluice = await site.start(t);
  for (const rest of [
    '../secret.txt',
    'sub/../../secret.txt',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    '%2e%2e%2fsecret.txt',
    '.%2e/secret.txt',
    '%252e%252e/secret.txt',
    '%252e%252e%252fsecret.txt',
    '..%5csecret.txt',
    '..\\secret.txt',
    '..%c0%afsecret.txt',
    '%c0%ae%c0%ae/secret.txt',
    '../site/app.js',
    './app.js',
    '/app.js',
    'sub//b.js',
    `/${site.path('secret.txt')}`,
    'app.js%00',
    'app.js%00.txt',
    'app.js/',
    'app.js/.',
    'app.js%2f',
    'sub%2fb.js',
    '.env',
    '%2eenv',
    '.git/config',
    'link.txt',
    'absolute.txt',
    'up/secret.txt',
    'inside/../../secret.txt',
    'env.txt',
    '%',
    'app.js%',
    'app.j%7',
  ]) {
    const response = await ask(sluice, `/assets/${rest}`);
    assert.ok(isFromApp(response), `${rest} got ${response.status} ${response.body.toString()}`);
  }
  assert.equal((await ask(sluice, '/assets/.well-known/security.txt')).body.toString(), 'Contact');
  assert.equal((await ask(sluice, '/assets/inside/b.js')).body.toString(), 'b');
  assert.equal((await ask(sluice, '/assets/%61pp%2Ejs')).body.toString(), script);
});

void test('a named pipe in the directory makes nobody wait', async (t) => {
  const site = new Site(t);
  const server = net.createServer().listen(site.path('site/socket'));
  t.after(() => server.close());
  execFileSync('mkfifo', [site.path('site/pipe')]);
  const sluice = await site.start(t);
  for (const name of ['pipe', 'socket']) assert.ok(isFromApp(await ask(sluice, `/assets/${name}`)), name);
});

void test('a client that has the file gets 304, with what a cache needs and nothing more', async (t) => {
  const site = new Site(t);
  const sluice = await site.start(t);
  const whole = await ask(sluice, '/assets/app.js');
  const modified = whole.headers.get('last-modified') ?? '';
  const connection = await RawConnection.connect(sluice.port);
  for (const headers of [
    `If-None-Match: ${tagOf(whole)}\r\n`,
    `If-None-Match: "other", W/${tagOf(whole)}\r\n`,
    `If-None-Match: *\r\n`,
    `If-Modified-Since: ${modified}\r\n`,
    `If-None-Match: ${tagOf(whole)}\r\nRange: bytes=0-1\r\n`,
  ]) {
    connection.send(bytesOf('/assets/app.js', headers));
    const response = await connection.response();
    assert.equal(response.status, 304, headers);
    const names = ['etag', 'last-modified', 'cache-control', 'vary'];
    assert.deepEqual(pick(response, ...names), pick(whole, ...names));
    assert.equal(response.headers.has('content-length'), false);
  }
  for (const headers of [
    'If-None-Match: "other"\r\n',
    `If-None-Match: "other"\r\nIf-Modified-Since: ${modified}\r\n`,
    'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n',
    'If-Modified-Since: yesterday\r\n',
  ]) {
    connection.send(bytesOf('/assets/app.js', headers));
    assert.equal((await connection.response()).body.toString(), script, headers);
  }
  connection.close();
  assert.equal((await ask(sluice, '/assets/app.js', { headers: 'If-Match: "other"\r\n' })).status, 412);

  // Another version of the same length within the same second is another one.
  site.write('site/app.js', script.replace('g', 'G'));
  const changed = await ask(sluice, '/assets/app.js', { headers: `If-None-Match: ${tagOf(whole)}\r\n` });
  assert.equal(changed.body.toString(), script.replace('g', 'G'));
});

void test('one range is a 206, an impossible one a 416, and all else the whole file', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 300_000);
  site.write('site/empty.txt', '');
  const sluice = await site.start(t);
  const connection = await RawConnection.connect(sluice.port);
  const get = async (range: string, more = '', name = 'big.bin'): Promise<RawResponse> => {
    connection.send(bytesOf(`/assets/${name}`, `Range: ${range}\r\n${more}`));
    return connection.response();
  };
  for (const [range, from, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=100-199', 100, 200],
    ['bytes=65530-200000', 65_530, 200_001],
    ['bytes=299999-', 299_999, 300_000],
    ['bytes=-70000', 230_000, 300_000],
    ['bytes=0-99999999999999999999999', 0, 300_000],
  ] as const) {
    const response = await get(range);
    assert.deepEqual(
      [response.status, response.headers.get('content-range')],
      [206, `bytes ${from}-${end - 1}/300000`],
    );
    assert.ok(response.body.equals(content.subarray(from, end)), range);
  }
  for (const range of ['bytes=300000-', 'bytes=-0', 'bytes=99999999999999999999999-']) {
    const response = await get(range);
    assert.deepEqual(
      [response.status, response.headers.get('content-range')],
      [416, 'bytes */300000'],
      range,
    );
    assert.equal(response.body.length, 0);
  }
  assert.equal((await get('bytes=0-', '', 'empty.txt')).status, 416);
  for (const range of ['bytes=0-1,5-6', 'bytes=5-1', 'lines=1-2', 'bytes=x-', 'nonsense']) {
    const response = await get(range);
    assert.deepEqual([response.status, response.body.equals(content)], [200, true], range);
  }
  const tag = tagOf(await get('bytes=0-0'));
  assert.equal((await get('bytes=1-2', `If-Range: ${tag}\r\n`)).status, 206);
  assert.equal((await get('bytes=1-2', 'If-Range: "other"\r\n')).status, 200);
  assert.equal((await get('bytes=1-2', `If-Range: W/${tag}\r\n`)).status, 200);
  connection.close();
  const empty = await ask(sluice, '/assets/empty.txt');
  assert.deepEqual([empty.status, empty.headers.get('content-length')], [200, '0']);
});

void test('the compressed sibling that the client accepts is sent in place of the file', async (t) => {
  const site = new Site(t);
  site
    .write('site/app.js.br', zlib.brotliCompressSync(script))
    .write('site/app.js.gz', zlib.gzipSync(script));
  site.write('site/only.js', 'plain').write('site/lone.js.br', 'x');
  const sluice = await site.start(t);
  const get = async (accept: string, name = 'app.js', more = ''): Promise<RawResponse> =>
    ask(sluice, `/assets/${name}`, { headers: `Accept-Encoding: ${accept}\r\n${more}` });
  const [plain, gzip, brotli] = [
    await get('identity'),
    await get('gzip, deflate'),
    await get('gzip, deflate, br, zstd'),
  ];
  assert.equal(plain.body.toString(), script);
  assert.equal(zlib.gunzipSync(gzip.body).toString(), script);
  assert.equal(zlib.brotliDecompressSync(brotli.body).toString(), script);
  assert.deepEqual(
    [plain, gzip, brotli].map((response) => response.headers.get('content-encoding')),
    [undefined, 'gzip', 'br'],
  );
  assert.equal(new Set([plain, gzip, brotli].map(tagOf)).size, 3);
  for (const response of [plain, gzip, brotli]) {
    assert.deepEqual(pick(response, 'vary', 'content-type'), [
      'Accept-Encoding',
      'text/javascript; charset=utf-8',
    ]);
    assert.equal(response.headers.get('content-length'), String(response.body.length));
  }
  assert.equal((await get('br;q=0, gzip;q=0')).headers.has('content-encoding'), false);
  // A tag is good for the encoding that it came with.
  assert.equal((await get('br', 'app.js', `If-None-Match: ${tagOf(brotli)}\r\n`)).status, 304);
  assert.equal((await get('gzip', 'app.js', `If-None-Match: ${tagOf(brotli)}\r\n`)).status, 200);
  const range = await get('br', 'app.js', 'Range: bytes=0-9\r\n');
  assert.ok(range.body.equals(brotli.body.subarray(0, 10)));
  assert.equal((await get('br', 'only.js')).body.toString(), 'plain');
  assert.ok(isFromApp(await get('br', 'lone.js')), 'a sibling alone is no file');
});

void test('a directory that is not there is told at the start, with its key', async (t) => {
  const site = new Site(t);
  fs.rmSync(site.path('site'), { recursive: true });
  const args = [
    'start',
    app('echo.js'),
    '--config',
    site.config,
    '--run-dir',
    site.path('run'),
    '--port',
    '0',
  ];
  const { code, stderr } = await runSluice([...args, '--admin', 'off']);
  assert.equal(code, 2);
  const text = `files.paths names ${site.path('site')} for /assets/, which cannot be used: No such file`;
  assert.ok(stderr.includes(text), stderr);
});
