// Requests that another host answers in place of the app: who gets them, what it is told, and what the gateway does for its answers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { RawConnection } from '../support/raw.ts';
import { app, repositoryDir, runSluice } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, ownApp, recordOf, running, statusWhen } from './scenario.ts';
import { metric, rawTarget, route, target } from './targets.ts';
import { makeCertificate } from './with-tls.ts';

const text = (body: Buffer): string => body.toString();

void test('requests of a route go to its target and take no worker; all others stay with the app', async (t) => {
  const legacy = await target(t, (request, response, body) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    response.setHeader('Connection', 'keep-alive, x-hop');
    response.setHeader('X-Hop', 'one connection alone');
    response.end(`${request.method} ${request.url} ${body}`);
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  const answer = await ask(sluice, '/old/page?x=1', {
    headers:
      'X-Forwarded-For: 203.0.113.9\r\nConnection: x-mine\r\nX-Mine: hidden\r\nX-Sluice-Request: id=1\r\n',
    method: 'POST',
    body: 'hello',
  });
  assert.deepEqual([answer.status, text(answer.body)], [200, 'POST /old/page?x=1 hello']);
  assert.equal(answer.headers.get('x-hop'), undefined, 'a field that Connection names is of one connection');
  assert.deepEqual(
    answer.rawHeaders.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value),
    ['a=1', 'b=2'],
  );
  const [seen] = legacy.seen;
  assert.ok(seen !== undefined);
  assert.equal(seen.headers.host, 'app');
  assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1', 'an untrusted client says nothing about itself');
  assert.equal(seen.headers['x-forwarded-host'], 'app');
  assert.match(String(seen.headers['x-request-id']), /^[\da-f]{32}$/);
  assert.deepEqual([seen.headers['x-mine'], seen.headers['x-sluice-request']], [undefined, undefined]);
  assert.equal((await sluice.status()).workers[0]?.requests_total, 0);
  // The app has all other paths.
  assert.equal((await ask(sluice, '/older')).status, 200);
  await statusWhen(sluice, ({ workers }) => workers[0]?.requests_total === 1, 'one request served');
  assert.equal(legacy.seen.length, 1);

  const record = await recordOf(sluice, '/old/page?x=1');
  const upstream = record['upstream'] as Record<string, unknown>;
  assert.deepEqual(
    [upstream['name'], upstream['target'], upstream['tries']],
    ['legacy', `127.0.0.1:${legacy.port}`, 1],
  );
  assert.ok(Number(upstream['ms']) >= Number(upstream['first_byte_ms']));
  assert.deepEqual(
    ['class', 'worker', 'outcome', 'queue_ms', 'service_ms'].map((name) => record[name]),
    ['legacy', null, 'answered', null, null],
  );
  assert.equal((await recordOf(sluice, '/older'))['upstream'], null);
  assert.equal(await metric(sluice, 'sluice_upstream_requests_total{upstream="legacy",ended="answered"}'), 1);
  assert.equal(await metric(sluice, 'sluice_upstream_first_byte_seconds_count{upstream="legacy"}'), 1);
  assert.equal(await metric(sluice, 'sluice_upstream_targets{upstream="legacy",health="healthy"}'), 1);
  const { stdout } = await sluice.cli(['status']);
  assert.match(stdout, /^upstream {6}legacy: 1 of 1 targets healthy, 1 requests, 0 failed, 0 retried$/m);
  assert.match(stdout, new RegExp(`^  127\\.0\\.0\\.1:${legacy.port}  healthy, 0 in flight, 1 idle$`, 'm'));
});

void test('host = "target" names the target, and weights decide between targets', async (t) => {
  const [heavy, light] = [await target(t), await target(t)];
  const config = route([`${heavy.url} weight=3`, light.url], 'host = "target"');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (let at = 0; at < 40; at++) assert.equal((await ask(sluice, `/old/${at}`)).status, 200);
  assert.deepEqual([heavy.seen.length, light.seen.length], [30, 10]);
  assert.equal(light.seen[0]?.headers.host, `127.0.0.1:${light.port}`);
  assert.equal(light.seen[0]?.headers['x-forwarded-host'], 'app');
});

void test('a name is looked up, and each of its addresses is a target', async (t) => {
  const legacy = await target(t);
  const config = route([`http://localhost:${legacy.port}`]);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal((await ask(sluice, '/old/x')).status, 200);
  const found = (await sluice.status()).upstreams?.[0]?.targets ?? [];
  assert.ok(
    found.some(({ address }) => address === `127.0.0.1:${legacy.port}`),
    JSON.stringify(found),
  );
  assert.ok(found.every((each) => each.target === `localhost:${legacy.port}`));
});

void test('a page of an upstream is cached, compressed, limited and denied as one of the app', async (t) => {
  let version = 0;
  const legacy = await target(t, (request, response) => {
    version++;
    response.setHeader('Content-Type', 'text/html');
    const isMine = request.url?.startsWith('/old/mine') ?? false;
    response.setHeader('Cache-Control', isMine ? 'private, max-age=60' : 'public, max-age=60');
    response.end(`${version} ${'x'.repeat(4_000)}`);
  });
  const config = `
[server]
trusted_peers = ["127.0.0.1"]
[cache]
enabled = true
[compression]
enabled = true
[access]
deny = ["192.0.2.0/24"]
[rate.limits]
"/old/slow" = "1/h burst 1"
${route([legacy.url])}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const first = await ask(sluice, '/old/page', { headers: 'Accept-Encoding: br\r\n' });
  assert.equal(first.headers.get('content-encoding'), 'br');
  assert.match(brotliDecompressSync(first.body).toString(), /^1 x/);
  const second = await ask(sluice, '/old/page');
  assert.match(text(second.body), /^1 x/);
  assert.match(second.headers.get('cache-status') ?? '', /hit/);
  assert.equal(legacy.seen.length, 1);
  const record = await recordOf(sluice, '/old/page');
  assert.equal((record['upstream'] as { name: string } | null)?.name, 'legacy');
  // What is for one client is never another's.
  assert.match(text((await ask(sluice, '/old/mine')).body), /^2 x/);
  assert.match(text((await ask(sluice, '/old/mine')).body), /^3 x/);
  assert.equal((await ask(sluice, '/old/slow')).status, 200);
  assertRefused(await ask(sluice, '/old/slow'), 429, 'SLU-RATE-LIMITED');
  assertRefused(
    await ask(sluice, '/old/page', { headers: 'X-Forwarded-For: 192.0.2.1\r\n' }),
    403,
    'SLU-ACCESS-DENIED',
  );
  assert.equal(legacy.seen.length, 4);
});

void test('a page of the app may include a path of an upstream', async (t) => {
  const legacy = await target(t, (_, response) => response.end('<b>from afar</b>'));
  const page = await target(t, (_, response) => {
    response.setHeader('Content-Type', 'text/html').setHeader('Surrogate-Control', 'content="ESI/1.0"');
    response.end('<p><esi:include src="/old/part"/></p>');
  });
  const config = `[compose]\nenabled = true\n${route([legacy.url])}${route([page.url], '', ['/pages/*'], 'pages')}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal(text((await ask(sluice, '/pages/1')).body), '<p><b>from afar</b></p>');
});

void test('no request names a target: absolute targets, dot segments and foreign hosts lead nowhere else', async (t) => {
  const [legacy, secret] = [await target(t), await target(t)];
  const config = route([legacy.url], '', ['/old/*', 'old.example/*']);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (const path of [
    '/old/../admin',
    '/old/%2e%2e/admin',
    '/old/..%2fadmin',
    '/old/..;/admin',
    '/old/%252e%252e/admin',
    '/old/..\\admin',
    '/old/%c0%ae%c0%ae/admin',
    '/old/%u002e%u002e/admin',
  ])
    assertRefused(await ask(sluice, path), 400, 'SLU-TARGET-INVALID');
  const raw = async (bytes: string): Promise<number> => {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytes);
    const { status } = await connection.response();
    connection.close();
    return status;
  };
  assert.equal(await raw(`GET http://127.0.0.1:${secret.port}/old/x HTTP/1.1\r\nHost: app\r\n\r\n`), 400);
  assert.equal(await raw(`GET /old/x HTTP/1.1\r\nHost: app\r\nHost: 127.0.0.1:${secret.port}\r\n\r\n`), 400);
  // The target is that of the config, whatever Host says.
  assert.equal(await raw(`GET /old/x HTTP/1.1\r\nHost: 127.0.0.1:${secret.port}\r\n\r\n`), 200);
  assert.equal(await raw('GET http://old.example/x HTTP/1.1\r\nHost: old.example\r\n\r\n'), 200);
  assert.deepEqual(
    legacy.seen.map(({ url, headers }) => [url, headers.host]),
    [
      ['/old/x', `127.0.0.1:${secret.port}`],
      ['/x', 'old.example'],
    ],
  );
  assert.equal(secret.seen.length, 0);
});

void test('no target gets the gateway’s cookie, nor has an answer of one it', async (t) => {
  const legacy = await target(t);
  const config = `sticky = "cookie"\n${route([legacy.url])}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const given = /^sluice=[^;]+/.exec((await ask(sluice, '/app')).headers.get('set-cookie') ?? '')?.[0];
  assert.ok(given !== undefined);
  const answer = await ask(sluice, '/old/x', { headers: `Cookie: a=1; ${given}; b=2\r\n` });
  assert.equal(answer.headers.get('set-cookie'), undefined);
  await ask(sluice, '/old/y', { headers: `Cookie: ${given}\r\n` });
  assert.deepEqual(
    legacy.seen.map(({ headers }) => [headers.cookie, headers.host]),
    [
      ['a=1; b=2', 'app'],
      [undefined, 'app'],
    ],
  );
});

void test('a route keeps its upstream while a body comes, and GET takes HEAD', async (t) => {
  const legacy = await target(t);
  const config = route([legacy.url], '', ['POST /late/*', 'GET /old/*']);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const late = async (from: string, to: string): Promise<void> => {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(
      `POST /late/x HTTP/1.1\r\nHost: app\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The head was routed when the body is asked for.
    await connection.untilBytes('100 Continue\r\n\r\n');
    fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), from);
    assert.equal((await sluice.cli(['reload'])).code, 0);
    const count = legacy.seen.length;
    connection.send('hello');
    assert.equal((await connection.response()).status, 200);
    assert.equal(legacy.seen.length - count, to === 'legacy' ? 1 : 0);
    connection.close();
  };
  assert.equal((await ask(sluice, '/old/x', { method: 'HEAD' })).status, 200);
  assert.deepEqual(
    legacy.seen.map(({ method }) => method),
    ['HEAD'],
  );
  await late('', 'legacy');
  await late(config, 'app');
});

void test('redirects are passed on and not followed', async (t) => {
  const other = await target(t);
  const legacy = await target(t, (_, response) =>
    response.writeHead(302, { Location: `${other.url}/x` }).end(),
  );
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  const answer = await ask(sluice, '/old/x');
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, `${other.url}/x`]);
  assert.equal(other.seen.length, 0);
});

/** A CA, and a certificate for a name that it has signed. */
function signed(dir: string, name: string, ca: { cert: string; key: string }): { cert: string; key: string } {
  const file = (kind: string): string => path.join(dir, `${name}.${kind}`);
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args);
    assert.equal(status, 0, stderr.toString());
  };
  fs.writeFileSync(file('ext'), `subjectAltName=DNS:${name}\n`);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', ...key, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${name}`);
  const by = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '2', '-extfile', file('ext')];
  openssl('x509', '-req', '-in', file('csr'), '-out', file('cert'), ...by);
  return { cert: file('cert'), key: file('key') };
}

void test('mutual TLS: both sides show a certificate of the CA of the config, and a wrong name is refused', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-mtls-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const ca = makeCertificate(t, 'ca.example');
  const [server, client] = [signed(dir, 'old.example', ca), signed(dir, 'gateway.example', ca)];
  const read = (file: string): Buffer => fs.readFileSync(file);
  const tls = {
    cert: read(server.cert),
    key: read(server.key),
    ca: read(ca.cert),
    requestCert: true,
    rejectUnauthorized: true,
  };
  const subject = (request: http.IncomingMessage): string => {
    const { socket } = request as unknown as {
      socket: { getPeerCertificate(): { subject: { CN: string } } };
    };
    return socket.getPeerCertificate().subject.CN;
  };
  const legacy = await target(t, (request, response) => response.end(`for ${subject(request)}`), { tls });
  const files = `ca = "${ca.cert}"\ncert = "${client.cert}"\nkey = "${client.key}"\n`;
  const config =
    route([legacy.url], `${files}server_name = "old.example"`) +
    route([legacy.url], files, ['/wrong/*'], 'wrong') +
    route([legacy.url], `ca = "${ca.cert}"\nserver_name = "old.example"`, ['/anonymous/*'], 'anonymous');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (let at = 0; at < 3; at++)
    assert.equal(text((await ask(sluice, '/old/x')).body), 'for gateway.example');
  assertRefused(await ask(sluice, '/wrong/x'), 502, 'SLU-UPSTREAM-UNREACHABLE');
  assert.equal((await ask(sluice, '/anonymous/x')).status, 502);
  const fault = (await sluice.status()).upstreams?.[1]?.targets[0]?.fault ?? '';
  assert.match(fault, /certificate/i);
  const key = read(client.key).toString().split('\n')[1] ?? '';
  assert.ok(key.length > 20 && !sluice.stdout.includes(key) && !sluice.stderr.includes(key));
});

void test('a health check takes a target out of service and lets it back in', async (t) => {
  let isWell = true;
  const sick = await target(t, (request, response) => {
    response.statusCode = request.url === '/health' && !isWell ? 503 : 200;
    response.end('sick');
  });
  const other = await target(t, (_, response) => response.end('other'));
  const config = route([sick.url, `${other.url} backup`], 'health = "/health"');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal(text((await ask(sluice, '/old/x')).body), 'sick');
  isWell = false;
  const health = async (): Promise<string | undefined> =>
    (await sluice.status()).upstreams?.[0]?.targets[0]?.health;
  await eventually(async () => (await health()) === 'down', { deadlineMs: 30_000, what: 'a failed check' });
  assert.equal(text((await ask(sluice, '/old/x')).body), 'other');
  isWell = true;
  await eventually(async () => (await health()) === 'healthy', {
    deadlineMs: 30_000,
    what: 'a check that passes',
  });
  assert.equal(text((await ask(sluice, '/old/x')).body), 'sick');
  assert.ok(
    sluice.logs.some((line) =>
      /fails its health check \(the health check got 503\)/.test(String(line['text'])),
    ),
  );
});

for (const version of ['v1', 'v2']) {
  void test(`connections begin with the client's address by the PROXY protocol, ${version}`, async (t) => {
    const plain = await rawTarget(t, (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const config = `[server]\ntrusted_peers = ["127.0.0.1"]\n${route([plain.url], `proxy_protocol = "${version}"`)}`;
    const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
    for (const client of ['203.0.113.9', '203.0.113.10'])
      assert.equal(
        text((await ask(sluice, '/old/x', { headers: `X-Forwarded-For: ${client}\r\n` })).body),
        'ok',
      );
    const [first = '', second = ''] = plain.heads;
    if (version === 'v1') {
      assert.match(first, /^PROXY TCP4 203\.0\.113\.9 127\.0\.0\.1 0 \d+\r\nGET \/old\/x /);
      assert.match(second, /^PROXY TCP4 203\.0\.113\.10 127\.0\.0\.1 0 \d+\r\nGET \/old\/x /);
    } else {
      assert.ok(first.startsWith('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x09\x7f\0\0\x01'));
      assert.ok(second.startsWith('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x0a\x7f\0\0\x01'));
    }
  });
}

void test('a reload adds, changes and removes routes under load without a failed request', async (t) => {
  const [one, two] = [
    await target(t, (_, response) => response.end('one')),
    await target(t, (_, response) => response.end('two')),
  ];
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([one.url]) });
  const answers: Record<string, number> = {};
  let isOver = false;
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
  });
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const answer = await new Promise<string>((resolve) => {
        const request = http.get(`${sluice.url}/old/x`, { agent }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
          response.once('close', () => {
            resolve(
              response.complete && response.statusCode === 200 ? body : `failed ${response.statusCode}`,
            );
          });
        });
        request.once('error', (error) => {
          resolve(`failed ${error.message}`);
        });
      });
      const word = answer.startsWith('{') ? 'app' : answer;
      answers[word] = (answers[word] ?? 0) + 1;
    }
  });
  const reach = async (word: string): Promise<void> => {
    const from = answers[word] ?? 0;
    await eventually(() => (answers[word] ?? 0) > from + 20, { what: `answers of ${word}` });
  };
  const reload = async (config: string): Promise<void> => {
    fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), config);
    const { code, stderr } = await sluice.cli(['reload']);
    assert.equal(code, 0, stderr);
  };
  await reach('one');
  await reload(route([two.url]));
  await reach('two');
  await reload('');
  await reach('app');
  await reload(route([one.url, two.url]));
  await reach('one');
  isOver = true;
  await Promise.all(clients);
  assert.deepEqual(Object.keys(answers).sort(), ['app', 'one', 'two'], JSON.stringify(answers));
});

void test('a drain waits for answers of upstreams', async (t) => {
  let release = (): void => undefined;
  const legacy = await target(t, (_, response) => {
    response.write('begun ');
    release = () => response.end('ended');
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/old/x'));
  await connection.untilBytes('begun ');
  sluice.signal('SIGTERM');
  await eventually(async () => (await sluice.status()).state === 'draining', { what: 'the drain' });
  release();
  await connection.untilBytes('ended');
  connection.close();
  assert.equal((await sluice.finished()).code, 0);
});

void test('a drain does not wait for streams of upstreams, which count as streams', async (t) => {
  const legacy = await target(t, (_, response) => {
    response.setHeader('Content-Type', 'text/event-stream');
    response.write('data: hello\n\n');
  });
  legacy.server.on('upgrade', (_: unknown, socket: net.Socket) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello',
    );
  });
  const config = `[drain]\ntimeout_ms = 600_000\n${route([legacy.url])}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const open = async (...request: Parameters<typeof bytesOf>): Promise<RawConnection> => {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(...request));
    await connection.untilBytes('hello');
    return connection;
  };
  const socket = await open('/old/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n');
  const events = await open('/old/events');
  await statusWhen(sluice, ({ streams }) => streams === 2, 'two streams');
  assert.equal(await metric(sluice, 'sluice_streams_opened_total'), 2);
  events.close();
  await statusWhen(sluice, ({ streams }) => streams === 1, 'one stream');
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished()).code, 0);
  await socket.untilClosed();
});

void test('the configs of the guide mean what it says', async (t) => {
  const guide = fs.readFileSync(path.join(repositoryDir, 'docs/guide/upstreams.md'), 'utf8');
  const [first = '', tls = ''] = [...guide.matchAll(/^```toml\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  );
  const targets = new Map<string, Awaited<ReturnType<typeof target>>>();
  for (const port of ['8081', '8082', '8083', '8090']) targets.set(port, await target(t));
  const config = first.replaceAll(
    /127\.0\.0\.1:(\d+)/g,
    (_, port: string) => `127.0.0.1:${targets.get(port)?.port}`,
  );
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const count = (port: string): number =>
    targets.get(port)?.seen.filter(({ url }) => url !== '/health').length ?? Number.NaN;
  for (let at = 0; at < 8; at++) assert.equal((await ask(sluice, '/old/x')).status, 200);
  assert.deepEqual(['8081', '8082', '8083'].map(count), [6, 2, 0]);
  assert.equal((await ask(sluice, '/api/v1/x')).status, 200);
  const api = targets.get('8090');
  assert.equal(api?.seen[0]?.headers.host, `127.0.0.1:${api?.port}`);
  const file = path.join(sluice.dir, 'tls.toml');
  fs.writeFileSync(file, tls);
  const { stderr, stdout } = await runSluice(['check', app('echo.js'), '--config', file]);
  const told = (stderr + stdout).replaceAll(/\s+/g, ' ');
  assert.match(told, /internal-ca\.pem as ca of "billing", which cannot be used: No such file/);
});

void test('the config is checked: each mistake is told with what to do', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-check-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const check = async (config: string): Promise<string> => {
    const file = path.join(dir, 'sluice.toml');
    fs.writeFileSync(file, config);
    const { code, stdout, stderr } = await runSluice(['check', ownApp('upstream.js'), '--config', file]);
    return `${code} ${stdout}${stderr}`;
  };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  assert.match(await check(route([url])), /^0 /);
  for (const [config, message] of [
    [route(['127.0.0.1:80']), /must contain targets like "http:\/\/10\.0\.0\.5:8080"/],
    [
      route([url], 'hosts = "x"'),
      /upstreams\.routes must contain tables of name, paths, to.*"hosts"; did you mean "host"\?/,
    ],
    [route([url], '', ['HEAD /x']), /write GET, which includes HEAD/],
    [route([url], 'retries = 9'), /must be between 0 and 5, not 9 \(at "retries"\)/],
    [route([url], 'first_byte_timeout = "x"'), /as first_byte_timeout of "legacy", not "x"/],
    [route([url], 'ca = "ca.pem"'), /none of whose targets begins with https/],
    [
      route(['https://old.example'], 'ca = "no.pem"'),
      /names .*no\.pem as ca of "legacy", which cannot be used/,
    ],
    [route([url]) + route([url], '', ['/x']), /has the name "legacy" twice/],
    [route([url]) + route([url], '', ['/old/*'], 'other'), /are for the same requests; keep one/],
  ] as const) {
    const told = (await check(config)).replaceAll(/\s+/g, ' ');
    assert.match(told, message);
    assert.match(told, /^2 /);
  }
});
