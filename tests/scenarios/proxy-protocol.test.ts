// server.proxy_protocol: a proxy without HTTP names the client, before TLS, and from then on the connection is that client's.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import tls from 'node:tls';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { app, type Sluice, type StartOptions } from '../support/sluice.ts';
import { assertRefused, bytesOf, recordOf, running } from './scenario.ts';
import { ask as askHttp2 } from './with-http2.ts';
import { binary, connectedWith, line, local } from './with-proxy-header.ts';
import { missing, startTls } from './with-tls.ts';

const SERVER = '[server]\nproxy_protocol = true\ntrusted_peers = ["127.0.0.1"]\n';
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app says it
const seenBy = (body: Buffer | string) => JSON.parse(body.toString()) as Seen;

interface Seen {
  headers: Record<string, string>;
  socket: { remoteAddress: string; remotePort: number };
}

/** A gateway that takes connections of this machine with a header alone, so that its readiness is asked at the admin address. */
async function started(t: TestContext, options: StartOptions = {}): Promise<Sluice> {
  const config = SERVER + (options.config ?? '');
  const sluice = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    ...options,
    config,
    waitUntilReady: false,
  });
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return sluice;
}

/** The answer to a request behind this header. */
async function askBehind(
  sluice: Sluice,
  header: string | Buffer,
  target: string,
  headers = '',
): Promise<RawResponse> {
  const connection = await RawConnection.connect(sluice.port);
  try {
    connection.send(Buffer.concat([Buffer.from(header as string), Buffer.from(bytesOf(target, headers))]));
    return await connection.response();
  } finally {
    connection.close();
  }
}

void test('both versions name the client to the app, the log and X-Forwarded-For', async (t) => {
  const sluice = await started(t, { env: { SLUICE_SERVER_LOAD_REPORT: 'header' } });
  for (const [target, header, address, remote] of [
    ['/v1', line('203.0.113.9', 4711), '203.0.113.9', '203.0.113.9'],
    ['/v6', line('2001:db8::9', 4711), '2001:db8::9', '2001:db8::9'],
    ['/v2', binary('203.0.113.9', 4711), '203.0.113.9', '203.0.113.9'],
  ] as const) {
    const seen = seenBy((await askBehind(sluice, header, target)).body);
    assert.equal(seen.headers['x-forwarded-for'], address, target);
    assert.deepEqual([seen.socket.remoteAddress, seen.socket.remotePort], [remote, 4711], target);
    assert.equal((await recordOf(sluice, target))['peer'], address, target);
  }
  // What the client itself says of its origin is not believed: it is no proxy.
  const forged = seenBy(
    (await askBehind(sluice, line('203.0.113.9'), '/', 'X-Forwarded-For: 6.6.6.6\r\n')).body,
  );
  assert.equal(forged.headers['x-forwarded-for'], '203.0.113.9');
  // The proxy speaks for itself, as in a health check: its own address counts.
  for (const own of ['PROXY UNKNOWN\r\n', local]) {
    const seen = seenBy((await askBehind(sluice, own, '/own')).body);
    assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1');
    // A client that the proxy cannot name is no proxy either.
    const answer = await askBehind(
      sluice,
      own,
      '/forged',
      'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nForwarded: for=6.6.6.6\r\nX-Request-Id: forged-id\r\n',
    );
    const { headers } = seenBy(answer.body);
    assert.deepEqual([headers['x-forwarded-for'], headers['x-forwarded-proto']], ['127.0.0.1', 'http']);
    assert.doesNotMatch(`${headers['forwarded']} ${headers['x-request-id']}`, /6\.6\.6\.6|forged/);
    assert.equal(answer.headers.get('endpoint-load-metrics'), undefined);
    assert.equal((await recordOf(sluice, '/forged'))['peer'], '127.0.0.1');
  }
});

void test('rate limits, access lists and connections count for the client that is named', async (t) => {
  const config = `connections_per_address_max = 2
[rate.limits]
"/limited" = "1/h burst 1"
[access]
deny = ["198.51.100.0/24"]
`;
  const sluice = await started(t, { config });
  const status = async (address: string, target: string) =>
    (await askBehind(sluice, line(address), target)).status;
  assert.deepEqual(
    [await status('203.0.113.1', '/limited'), await status('203.0.113.1', '/limited')],
    [200, 429],
  );
  assert.equal(await status('203.0.113.2', '/limited'), 200);
  assert.deepEqual([await status('198.51.100.7', '/'), await status('203.0.113.7', '/')], [403, 200]);

  const busy = [];
  for (let index = 0; index < 2; index++) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(line('203.0.113.8'));
    connection.send('GET /held HTTP/1.1\r\n');
    busy.push(connection);
  }
  const refused = await eventually(
    async () => {
      const response = await askBehind(sluice, line('203.0.113.8'), '/');
      return response.status === 503 ? response : undefined;
    },
    { what: 'the refusal of a third connection' },
  );
  assertRefused(refused, 503, 'SLU-CONNECTIONS-FULL');
  assert.equal(refused.headers.get('x-sluice-retry'), 'later', 'another instance is no way past the bound');
  assert.equal(await status('203.0.113.9', '/'), 200);
  for (const connection of busy) connection.close();
  await eventually(async () => (await status('203.0.113.8', '/')) === 200, { what: 'room for the client' });
});

void test('a trusted peer without a valid header is disconnected, and the operator told once', async (t) => {
  const sluice = await started(t, { env: bounds({ headers_timeout_ms: 300 }) });
  const sendings = [
    bytesOf('/'),
    'PROXY TCP4 203.0.113.9 192.0.2.1 1 +2\r\n' + bytesOf('/'),
    `PROXY UNKNOWN ${'x'.repeat(200)}`,
    Buffer.concat([binary('203.0.113.9').subarray(0, 14), Buffer.from([0xff, 0xff])]),
    // Nothing more comes.
    'PROXY TCP4 203.0.113.9',
    '',
  ];
  for (const sending of sendings) {
    const connection = await RawConnection.connect(sluice.port);
    if (sending.length > 0) connection.send(sending);
    assert.equal((await connection.untilClosed()).length, 0, String(sending));
  }
  const notes = sluice.logs.filter((entry) => String(entry['text']).includes('server.proxy_protocol'));
  assert.equal(notes.length, 1, JSON.stringify(notes));
  assert.equal(notes[0]?.['level'], 'warn');
  assert.match(
    String(notes[0]?.['text']),
    /^connection of 127\.0\.0\.1 closed: it does not begin with a PROXY header/,
  );
  assert.equal(sluice.logs.filter((entry) => entry['event'] === 'access').length, 0);
  assert.equal((await askBehind(sluice, line('203.0.113.9'), '/')).status, 200);
  assert.equal((await sluice.status()).connections, 0);
});

void test('a header from a peer that is not trusted is no header', async (t) => {
  const config = SERVER.replace('127.0.0.1', '10.0.0.1');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const seen = await askBehind(sluice, '', '/');
  assert.equal(seenBy(seen.body).headers['x-forwarded-for'], '127.0.0.1');
  assertRefused(await askBehind(sluice, line('203.0.113.9'), '/'), 400, 'SLU-HEAD-MALFORMED');
});

void test('TLS, HTTP/2 and the redirect port come after the header', { skip: missing }, async (t) => {
  const redirect = await freePort();
  const gateway = await startTls(t, {
    entry: app('echo.js'),
    env: { SLUICE_SERVER_REDIRECT_PORT: String(redirect) },
    config: SERVER,
  });
  const { sluice, ca } = gateway;
  const encrypted = async (ALPNProtocols: string[]): Promise<tls.TLSSocket> => {
    const socket = await connectedWith(sluice.port, binary('203.0.113.9', 4711));
    const secure = tls.connect({ socket, servername: 'localhost', ca, ALPNProtocols });
    await once(secure, 'secureConnect');
    return secure;
  };
  const one = await encrypted(['http/1.1']);
  one.write(bytesOf('/one', 'Connection: close\r\n'));
  let text = '';
  for await (const piece of one) text += String(piece);
  const [, body = ''] = text.split('\r\n\r\n');
  assert.equal(seenBy(body).headers['x-forwarded-for'], '203.0.113.9');

  const two = await encrypted(['h2']);
  const session = http2.connect(`https://localhost:${sluice.port}`, { createConnection: () => two });
  t.after(() => {
    session.destroy();
  });
  for (const target of ['/two', '/three']) {
    const answer = await askHttp2(session, target);
    const seen = seenBy(answer.body);
    assert.deepEqual(
      [seen.headers['x-forwarded-for'], seen.headers['x-forwarded-proto']],
      ['203.0.113.9', 'https'],
    );
  }
  assert.equal((await recordOf(sluice, '/three'))['peer'], '203.0.113.9');

  const plain = await connectedWith(redirect, line('203.0.113.9'));
  plain.write('GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  text = '';
  for await (const piece of plain) text += String(piece);
  assert.match(text, /^HTTP\/1\.1 308 /);
  assert.equal((await recordOf(sluice, '/a'))['peer'], '203.0.113.9');
});
