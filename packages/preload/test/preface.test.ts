import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { CLIENT, FakeGateway, type Line } from './fake-gateway.js';

type Seen = Record<string, unknown>;

const remote = ['203.0.113.9', 51_234, 'IPv4'];
const local = ['192.0.2.1', 9091, 'IPv4'];
const address = { address: '192.0.2.1', family: 'IPv4', port: 9091 };

const missing = spawnSync('openssl', ['version']).error === undefined ? false : 'openssl is not installed';
const files = ['key', 'cert'].map((name) => join(tmpdir(), `slu-preface-${process.pid}.${name}`));
after(() => {
  for (const file of files) rmSync(file, { force: true });
});

function certificate(): Record<string, string> {
  const [key = '', cert = ''] = files;
  const flags = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  const made = spawnSync('openssl', ['req', ...flags.split(' '), '-keyout', key, '-out', cert]);
  assert.equal(made.status, 0, made.stderr.toString());
  return { KEY: readFileSync(key, 'utf8'), CERT: readFileSync(cert, 'utf8') };
}

async function withFurther(
  kind: string,
  run: (gateway: FakeGateway, aux: Line) => Promise<void>,
  { options = {}, env = {} }: { options?: object; env?: Record<string, string> } = {},
): Promise<void> {
  const gateway = await FakeGateway.serve('further.cjs', { args: [kind, JSON.stringify(options)], env });
  try {
    if (kind === 'aside') gateway.child?.kill('SIGUSR2');
    const aux = await gateway.line('aux');
    assert.equal(aux['preface'], true);
    await run(gateway, aux);
  } finally {
    await gateway.stop();
  }
}

async function heard(socket: Readable, bytes: number): Promise<string> {
  let text = '';
  for await (const part of socket.iterator({ destroyOnReturn: false })) {
    text += String(part);
    if (text.length >= bytes) break;
  }
  return text;
}

for (const kind of ['http', 'mux']) {
  test(`a further server sees its client, not the gateway: ${kind}`, async () => {
    await withFurther(kind, async (gateway, aux) => {
      const headers = { 'x-sluice-request': 'id=9;peer=198.51.100.1:1' };
      const seen = JSON.parse(await gateway.furtherText(aux, { headers })) as Seen;
      assert.deepEqual([seen['remote'], seen['local'], seen['address']], [remote, local, address]);
      assert.equal(seen['label'], headers['x-sluice-request'], "the header is the client's");
    });
  });
}

for (const kind of ['https', 'aside']) {
  test(`a further server sees its client below TLS: ${kind}`, { skip: missing }, async () => {
    const run = async (gateway: FakeGateway, aux: Line): Promise<void> => {
      const socket = connectTls({ socket: await gateway.further(aux), rejectUnauthorized: false });
      socket.write('GET / HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=9\r\nconnection: close\r\n\r\n');
      const text = await heard(socket, Infinity);
      const seen = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Seen;
      assert.deepEqual([seen['remote'], seen['local'], seen['address']], [remote, local, address]);
      assert.equal(seen['label'], 'id=9');
      if (kind === 'aside') assert.equal((await gateway.ask()).body, 'main');
    };
    await withFurther(kind, run, { env: certificate() });
  });
}

test('a further tls.Server and an HTTP/2 server see their client', { skip: missing }, async () => {
  await withFurther(
    'tls',
    async (gateway, aux) => {
      const socket = connectTls({ socket: await gateway.further(aux), rejectUnauthorized: false });
      socket.write('hello');
      assert.equal(await heard(socket, 5), 'hello');
      assert.deepEqual(((await gateway.printed('connection')) as Seen)['remote'], remote);
      socket.destroy();
    },
    { env: certificate() },
  );
  await withFurther('http2', async (gateway, aux) => {
    const socket = await gateway.further(aux);
    const session = connectHttp2('http://a', { createConnection: () => socket });
    const seen = JSON.parse(await heard(session.request({ ':path': '/' }), Infinity)) as Seen;
    assert.deepEqual([seen['remote'], seen['local']], [remote, local]);
    session.destroy();
  });
});

test('a further net server finds its socket untouched, whoever speaks first', async () => {
  const run = async (gateway: FakeGateway, aux: Line): Promise<void> => {
    const socket = await gateway.further(aux);
    assert.equal(await heard(socket, 5), 'hello');
    const seen = { remote, local, address, bytes: [0, 0], flowing: null, buffered: 0 };
    assert.deepEqual(await gateway.printed('connection'), seen);
    socket.end('and you');
    // Half open: what the app sends after the client's end arrives.
    assert.equal(await heard(socket, Infinity), 'and youbye');
    await gateway.printed('closed');
  };
  await withFurther('net', run, { options: { allowHalfOpen: true }, env: { GREETING: 'hello' } });
});

test('a paused connection stays paused, and nothing of it is read', async () => {
  const run = async (gateway: FakeGateway, aux: Line): Promise<void> => {
    const socket = await gateway.further(aux);
    socket.write('early');
    const seen = (await gateway.printed('connection')) as Seen;
    assert.deepEqual([seen['remote'], seen['flowing'], seen['buffered']], [remote, false, 0]);
    gateway.child?.kill('SIGUSR2');
    assert.deepEqual(await gateway.printed('resumed'), { buffered: 0, bytes: [0, 0] });
    assert.equal(await heard(socket, 5), 'early');
    socket.destroy();
  };
  await withFurther('net', run, { options: { pauseOnConnect: true } });
});

test('a preface that comes in pieces, and one of a client without addresses', async () => {
  await withFurther('http', async (gateway, aux) => {
    const pieces = connect(String(aux['socket']));
    for (const piece of CLIENT) {
      pieces.write(piece);
      await new Promise((done) => setImmediate(done));
    }
    assert.equal(await heard(pieces, 1), '\n');
    pieces.end('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    assert.match(await heard(pieces, Infinity), /"remote":\["203\.0\.113\.9",51234,"IPv4"\]/);

    const unknown = await gateway.further(aux, 'PROXY UNKNOWN\r\n');
    unknown.end('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    assert.match(await heard(unknown, Infinity), /"remote":\[null,null,null\]/);
  });
});

const closed = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close');

test('I6: connections without a preface in 5 s are closed before the app sees them', async () => {
  await withFurther('net', async (gateway, aux) => {
    const path = String(aux['socket']);
    const silent = closed(gateway.raw(path));
    const cut = gateway.raw(path);
    cut.end('PROXY TCP4 203.0');
    await closed(cut);
    const wrong = [
      'GET / HTTP/1.1\r\n',
      'PROXY TCP4 2001:db8::1 192.0.2.1 1 2\r\n',
      'PROXY TCP4 203.0.113.9 192.0.2.1 1 2\n',
      'x'.repeat(200),
    ];
    for (const text of wrong) {
      const socket = gateway.raw(path);
      socket.write(text);
      await closed(socket);
    }
    await silent;
    assert.ok(!gateway.output.includes('connection'), gateway.output);
    assert.equal(gateway.exitCode, undefined);
  });
});

test('a block list of the app holds for clients of a further server', async () => {
  await withFurther('blocking', async (gateway, aux) => {
    await closed(await gateway.further(aux));
    assert.ok(!gateway.output.includes('connection'), gateway.output);
    const socket = await gateway.further(aux, CLIENT.replace('203.0.113.9', '203.0.113.8'));
    await gateway.printed('connection');
    socket.destroy();
  });
});
