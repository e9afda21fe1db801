// TLS at the gateway, with a certificate made on the spot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { bytesOf, end, statusWhen } from './scenario.ts';

const missing = spawnSync('openssl', ['version']).error === undefined ? false : 'openssl is not installed';

async function start(t: TestContext): Promise<{ sluice: Sluice; ca: Buffer }> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-tls-'));
  const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
  const flags = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const made = spawnSync('openssl', [
    'req',
    ...flags.split(' '),
    '-addext',
    names,
    '-keyout',
    key,
    '-out',
    cert,
  ]);
  assert.equal(made.status, 0, made.stderr.toString());
  const env = { SLUICE_SERVER_TLS_CERT: cert, SLUICE_SERVER_TLS_KEY: key };
  const sluice = await startSluice({ entry: app('echo.js'), workers: 1, env, waitUntilReady: false });
  t.after(async () => {
    await end(sluice);
    fs.rmSync(dir, { recursive: true, force: true });
  });
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return { sluice, ca: fs.readFileSync(cert) };
}

async function connect(sluice: Sluice, ca: Buffer): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    port: sluice.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  return socket;
}

void test('an app behind TLS sees https and an encrypted socket', { skip: missing }, async (t) => {
  const { sluice, ca } = await start(t);
  const agent = new https.Agent({ ca, keepAlive: true });
  for (let round = 0; round < 3; round++) {
    const request = https.get(`https://localhost:${sluice.port}/`, { agent });
    const [response] = await once(request, 'response');
    let text = '';
    for await (const piece of response) text += String(piece);
    const seen = JSON.parse(text) as { headers: Record<string, string>; socket: { encrypted: boolean } };
    assert.deepEqual([seen.headers['x-forwarded-proto'], seen.socket.encrypted], ['https', true]);
  }
  agent.destroy();
  assert.match((await sluice.status()).url, /^https:/);
});

void test(
  'a request without TLS on the port of TLS gets nothing and hurts nobody',
  { skip: missing },
  async (t) => {
    const { sluice, ca } = await start(t);
    const plain = await RawConnection.connect(sluice.port);
    plain.send(bytesOf('/'));
    assert.doesNotMatch((await plain.untilClosed()).toString('latin1'), /HTTP\/1\.1 200/);
    const socket = await connect(sluice, ca);
    socket.write(bytesOf('/'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    socket.destroy();
  },
);

void test('a slow reader over TLS gets a large response to its last byte', { skip: missing }, async (t) => {
  const { sluice, ca } = await start(t);
  // The echo app says the body back, a little longer; several sizes, because the last record is what could be left behind.
  let served = 0;
  for (const size of [700_000, 1_500_001, 3_000_000]) {
    const socket = await connect(sluice, ca);
    socket.pause();
    let received = 0;
    let wanted = Number.POSITIVE_INFINITY;
    let head = '';
    socket.on('data', (piece: Buffer) => {
      if (head.length < 4096) head += piece.toString('latin1');
      received += piece.length;
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined) wanted = Number(length) + head.indexOf('\r\n\r\n') + 4;
    });
    socket.pause();
    socket.write(bytesOf('/', `Content-Length: ${size}\r\n`, 'POST'));
    socket.write('x'.repeat(size));
    served += 1;
    await statusWhen(
      sluice,
      ({ workers }) => workers[0]?.requests_total === served && workers[0].state === 'ready',
      'a worker that has said everything',
    );
    socket.resume();
    await eventually(() => received >= wanted, { what: `the last of ${wanted} bytes` });
    assert.equal(received, wanted);
    socket.destroy();
  }
});
