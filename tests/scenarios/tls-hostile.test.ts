// What hostile and broken clients do to the port of TLS, and what operators do to its files.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { once } from 'node:events';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { StartFailed, app, startSluice } from '../support/sluice.ts';
import { FakeCa } from './fake-ca.ts';
import { bytesOf, running } from './scenario.ts';
import { makeCertificate, missing, startTls, tlsConnection } from './with-tls.ts';

/** A record of a handshake with a ClientHello of this length, of which these bytes are sent. */
function hello(length: number, sent: Buffer): Buffer {
  const head = Buffer.from([0x16, 3, 1, 0, 0, 1, 0, 0, 0]);
  head.writeUInt16BE(Math.min(sent.length + 4, 16_384), 3);
  head.writeUIntBE(length, 6, 3);
  return Buffer.concat([head, sent]);
}

/** A plain connection that has sent these bytes, and whether it is over. */
async function hostile(
  port: number,
  bytes: Buffer | string,
): Promise<{ isOver: () => boolean; socket: net.Socket }> {
  const socket = net.connect(port, '127.0.0.1');
  let over = false;
  socket.on('error', () => {}).on('close', () => (over = true));
  socket.resume();
  await once(socket, 'connect');
  socket.write(bytes);
  return { isOver: () => over, socket };
}

void test(
  'I6: incomplete handshakes end with the time limit for headers, and delay no other client',
  { skip: missing },
  async (t) => {
    const env = bounds({ headers_timeout_ms: 2000 });
    const server = await startTls(t, { entry: app('echo.js'), env });
    const { port } = server.sluice;
    const bad = await Promise.all([
      // Nothing; one byte; half a hello; one that is announced huge; one that is no TLS; HTTP/2 without TLS.
      ...Array.from({ length: 30 }, async () => hostile(port, '')),
      ...Array.from({ length: 30 }, async () => hostile(port, Buffer.from([0x16]))),
      ...Array.from({ length: 30 }, async () => hostile(port, hello(500, Buffer.alloc(40)))),
      ...Array.from({ length: 10 }, async () => hostile(port, hello(0xff_ffff, Buffer.alloc(16_000)))),
      hostile(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      hostile(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    ]);
    const socket = await tlsConnection(server.sluice, server.ca);
    socket.write(bytesOf('/', 'Connection: close\r\n'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    socket.destroy();
    await eventually(() => bad.every(({ isOver }) => isOver()), { what: 'the end of all of them' });
    await eventually(async () => (await server.sluice.status()).connections === 0, { what: 'no connection' });
  },
);

void test('names that are none get the default certificate or no handshake', { skip: missing }, async (t) => {
  const server = await startTls(t, { entry: app('echo.js') });
  const { port } = server.sluice;
  const at = { port, host: '127.0.0.1', rejectUnauthorized: false };
  for (const servername of [
    '',
    'x'.repeat(63) + '.test',
    'LOCALHOST',
    'a..b',
    '-',
    'localhost.',
    '*.localhost',
  ]) {
    const socket = tls.connect({ ...at, servername });
    const ended = await Promise.race([
      once(socket, 'secureConnect').then(() => 'made'),
      once(socket, 'close').then(
        () => 'closed',
        () => 'closed',
      ),
    ]).catch(() => 'closed');
    if (ended === 'made') assert.equal(socket.getPeerCertificate().subject.CN, 'localhost', servername);
    socket.destroy();
  }
  // A protocol that the port does not speak, and that of a CA that nobody has asked for anything.
  for (const protocol of ['spdy/3', 'acme-tls/1']) {
    const socket = tls.connect({ ...at, servername: 'localhost', ALPNProtocols: [protocol] });
    await assert.rejects(once(socket, 'secureConnect'), protocol);
  }
  const socket = await tlsConnection(server.sluice, server.ca);
  socket.write(bytesOf('/', 'Connection: close\r\n'));
  await once(socket, 'data');
  socket.destroy();
  await eventually(async () => (await server.sluice.status()).connections === 0, { what: 'no connection' });
});

void test('HTTP/2 with prior knowledge on a port without TLS is refused', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  const connection = await RawConnection.connect(sluice.port);
  connection.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const answer = (await connection.untilClosed()).toString('latin1');
  assert.match(answer, /^HTTP\/1\.1 (400|505) /);
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, 'one answer to what looks like two requests');
});

void test('an expired certificate is served, and told of', { skip: missing }, async (t) => {
  const [ca, files] = [new FakeCa(t, 0), makeCertificate(t)];
  const { cert, key } = ca.issue('old.test', ca.lifetimeS + 25 * 3_600);
  fs.writeFileSync(files.cert, cert);
  fs.writeFileSync(files.key, key);
  const env = { SLUICE_SERVER_TLS_CERT: files.cert, SLUICE_SERVER_TLS_KEY: files.key };
  const sluice = await startSluice({ entry: app('echo.js'), workers: 1, env, waitUntilReady: false });
  t.after(async () => sluice.stop());
  const raised = () => sluice.logs.find(({ alarm }) => alarm === 'certificates');
  await eventually(() => raised() !== undefined, { what: 'the alarm' });
  assert.match(
    String(raised()?.['text']),
    /^the certificate of old\.test expired 25 h ago: put a new one into \S+cert\.pem; the gateway loads it by itself/,
  );
  assert.match((await sluice.cli(['status'])).stdout, /certificate +old\.test expired 1 d 01 h ago/);
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /^sluice_certificate_expiry_seconds\{certificate="old\.test"\} -90\d{3}/m);
});

void test(
  'files that cannot be used are told at the start, each with its key',
  { skip: missing },
  async (t) => {
    const [one, other] = [makeCertificate(t, 'one.test'), makeCertificate(t, 'other.test')];
    const dir = one.cert.replace(/cert\.pem$/, '');
    const write = (name: string, text: string) => {
      fs.writeFileSync(`${dir}${name}`, text);
      return `${dir}${name}`;
    };
    const fails = async (cert: string, key: string, expected: RegExp) => {
      const env = { SLUICE_SERVER_TLS_CERT: cert, SLUICE_SERVER_TLS_KEY: key };
      await assert.rejects(startSluice({ entry: app('echo.js'), workers: 1, env }), (error) => {
        assert.ok(error instanceof StartFailed);
        assert.equal(error.finished.code, 2);
        assert.match(error.finished.stderr, expected);
        return true;
      });
    };
    await fails(one.cert, other.key, /server\.tls_key names \S+, which does not match \S+/);
    await fails(one.cert, one.cert, /server\.tls_key names \S+, which cannot be used/);
    await fails(one.key, one.key, /server\.tls_cert names \S+, which cannot be used/);
    await fails(write('empty', ''), one.key, /server\.tls_cert names \S+empty, which cannot be used/);
    await fails(dir, one.key, /server\.tls_cert names \S+, which cannot be used/);
    await fails(`${dir}missing`, one.key, /server\.tls_cert names \S+missing, which cannot be used/);
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    await fails(write('broken', broken), one.key, /server\.tls_(cert|key) names \S+/);
  },
);
