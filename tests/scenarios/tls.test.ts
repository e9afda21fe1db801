// TLS at the gateway, with a certificate made on the spot.
import assert from 'node:assert/strict';
import https from 'node:https';
import type tls from 'node:tls';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { bytesOf, statusWhen } from './scenario.ts';
import { missing, startTls, tlsConnection, type WithTls } from './with-tls.ts';

void test('an app behind TLS sees https and an encrypted socket', { skip: missing }, async (t) => {
  const { sluice, ca } = await startTls(t, { entry: app('echo.js') });
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
    const { sluice, ca } = await startTls(t, { entry: app('echo.js') });
    const plain = await RawConnection.connect(sluice.port);
    plain.send(bytesOf('/'));
    assert.doesNotMatch((await plain.untilClosed()).toString('latin1'), /HTTP\/1\.1 200/);
    const socket = await tlsConnection(sluice, ca);
    socket.write(bytesOf('/'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    socket.destroy();
  },
);

void test('a slow reader over TLS gets a large response to its last byte', { skip: missing }, async (t) => {
  const { sluice, ca } = await startTls(t, { entry: app('echo.js') });
  // The echo app says the body back, a little longer; several sizes, because the last record is what could be left behind.
  let served = 0;
  for (const size of [700_000, 1_500_001, 3_000_000]) {
    const socket = await tlsConnection(sluice, ca);
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

interface Paused {
  size: number;
  socket: tls.TLSSocket;
  received: number;
  closed: boolean;
}

/** Clients that have asked for responses of these sizes, with `Connection: close`, and read nothing. */
async function paused(t: TestContext, { sluice, ca }: WithTls, sizes: number[]): Promise<Paused[]> {
  const before = (await sluice.status()).workers[0]?.requests_total ?? 0;
  const clients = sizes.map(async (size) => {
    const socket = await tlsConnection(sluice, ca);
    t.after(() => socket.destroy());
    const client = { size, socket, received: 0, closed: false };
    socket.on('data', (piece: Buffer) => (client.received += piece.length));
    socket.on('error', () => {});
    socket.on('close', () => (client.closed = true));
    socket.pause();
    socket.write(bytesOf(`/big?bytes=${size}`, 'Connection: close\r\n'));
    return client;
  });
  const all = await Promise.all(clients);
  await statusWhen(
    sluice,
    ({ workers }) => workers[0]?.requests_total === before + sizes.length && workers[0].state === 'ready',
    'a worker that has said everything',
  );
  return all;
}

const steps = (from: number, step: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index * step);

void test(
  'a reader that pauses gets a TLS response with Connection: close whole',
  { skip: missing },
  async (t) => {
    const gateway = await startTls(t, { entry: app('spin.js') });
    // What matters is a response a little larger than what the kernel takes, so that is looked for first.
    await paused(t, gateway, steps(25_000, 50_000, 40));
    const written = () =>
      gateway.sluice.logs.filter(
        ({ target, outcome }) => String(target).startsWith('/big') && outcome === 'answered',
      );
    await eventually(() => written().length > 0, { what: 'a response that the kernel takes whole' });
    const taken = Math.max(...written().map(({ target }) => Number(String(target).split('=')[1])));
    const clients = await paused(t, gateway, steps(Math.max(10_000, taken - 100_000), 12_500, 32));
    // Longer than a gateway may take that closes without waiting for the client.
    await wait(3_500);
    for (const { socket } of clients) socket.resume();
    await eventually(() => clients.every(({ closed }) => closed), { what: 'the ends', deadlineMs: 30_000 });
    const cut = clients.filter(({ size, received }) => received < size);
    assert.deepEqual(
      cut.map(({ size, received }) => `${received} of ${size}`),
      [],
    );
  },
);
