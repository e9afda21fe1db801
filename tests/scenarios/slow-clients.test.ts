// Clients that send or read slowly hold connections and nothing else: no slot of a worker, and nobody's time.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, ownApp, pidOf, running, slotsHeld, statusWhen } from './scenario.ts';
import { attack, missing } from './slowhttptest.ts';

const start = (t: TestContext, env: Record<string, string> = {}): Promise<Sluice> =>
  running(t, { entry: app('stream.js'), workers: 1, env });

async function othersAreServed(sluice: Sluice): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(sluice, '/spin?ms=1')));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
}

async function holdNothing(sluice: Sluice, connections: number): Promise<void> {
  const seen = await statusWhen(sluice, (now) => now.connections >= connections, 'the slow connections');
  assert.equal(slotsHeld(seen), 0, 'slots held');
  await othersAreServed(sluice);
  const after = await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'free slots');
  assert.equal(after.queue.length, 0);
  assert.ok(after.connections >= connections, 'the slow connections were there all the time');
}

async function open(t: TestContext, sluice: Sluice, count: number, bytes: string): Promise<RawConnection[]> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => RawConnection.connect(sluice.port)),
  );
  for (const connection of connections) connection.send(bytes);
  t.after(() => {
    for (const connection of connections) connection.close();
  });
  return connections;
}

void test('I2: clients with unfinished headers occupy no slot and finally get 408', async (t) => {
  const sluice = await start(t, bounds({ headers_timeout_ms: 2500 }));
  const connections = await open(t, sluice, 50, 'GET / HTTP/1.1\r\nHost: app\r\nX-Slow: ');
  await holdNothing(sluice, 50);
  for (const connection of connections) {
    assert.equal((await connection.response()).headers.get('x-sluice-error'), 'SLU-HEADERS-TIMEOUT');
    await connection.untilClosed();
  }
});

void test('I2: clients that send their body too slowly occupy no slot and finally get 408', async (t) => {
  const sluice = await start(t, {
    ...bounds({ body_grace_ms: 2500, body_rate_bytes_per_s_min: 1000 }),
  });
  const connections = await open(
    t,
    sluice,
    50,
    bytesOf('/upload', 'Content-Length: 100000\r\n', 'POST') + 'x',
  );
  const trickle = setInterval(() => {
    for (const connection of connections) if (!connection.closed) connection.send('x');
  }, 100);
  t.after(() => {
    clearInterval(trickle);
  });
  await holdNothing(sluice, 50);
  for (const connection of connections) {
    assert.equal((await connection.response()).headers.get('x-sluice-error'), 'SLU-BODY-TOO-SLOW');
  }
});

void test('I2: clients that do not read their response hold no slot', async (t) => {
  const sluice = await start(t);
  const connections = await open(t, sluice, 20, '');
  for (const connection of connections) {
    connection.pause();
    connection.send(bytesOf('/big?bytes=6000000'));
  }
  await statusWhen(
    sluice,
    (now) => (now.workers[0]?.requests_total ?? 0) >= 20,
    'the worker to be done',
    30_000,
  );
  await holdNothing(sluice, 20);
  const [first] = connections;
  first?.resume();
  assert.equal((await first?.response({ deadlineMs: 20_000 }))?.body.length, 6_000_000);
});

void test('I2: a client that reads nothing for too long is disconnected', async (t) => {
  const sluice = await start(t, { SLUICE_SERVER_SEND_TIMEOUT_MS: '500' });
  const [connection] = await open(t, sluice, 1, '');
  connection?.pause();
  connection?.send(bytesOf('/big?bytes=30000000'));
  await statusWhen(
    sluice,
    (now) => now.requests.outcomes['client_gone_in_service'] === 1,
    'the end of the slow reader',
  );
  await statusWhen(sluice, (now) => now.connections === 0, 'the end of its connection');
});

void test('I2: an upload that pauses after a fast start is aborted after the grace time', async (t) => {
  const grace_ms = 1_200;
  const sluice = await start(t, bounds({ body_grace_ms: grace_ms }));
  const head = bytesOf('/upload', 'Content-Length: 2000000\r\n', 'POST');
  // At 512 bytes a second this much would be half an hour's worth.
  const started = performance.now();
  const [connection] = await open(t, sluice, 1, head + 'x'.repeat(1_000_000));
  const response = await connection?.response();
  assertRefused(response ?? assert.fail(), 408, 'SLU-BODY-TOO-SLOW');
  const ended_ms = performance.now() - started;
  assert.ok(ended_ms >= grace_ms, `ended after ${ended_ms} ms`);
  // Pauses that are shorter are no fault, however many they are.
  const [patient] = await open(t, sluice, 1, bytesOf('/upload', 'Content-Length: 50000\r\n', 'POST'));
  for (let piece = 0; piece < 5; piece++) {
    patient?.send('x'.repeat(10_000));
    if (piece < 4) await wait(grace_ms / 3);
  }
  assert.equal((await patient?.response())?.body.toString(), '50000\n');
});

void test('a client that leaves more than a quarter of temp.bytes_max unread is cut off', async (t) => {
  const env = { ...bounds({ response_memory_bytes_max: 100_000 }), SLUICE_TEMP_BYTES_MAX: '4000000' };
  const sluice = await start(t, env);
  const [slow] = await open(t, sluice, 1, '');
  slow?.pause();
  slow?.send(bytesOf('/big?bytes=30000000'));
  await statusWhen(sluice, ({ workers }) => workers[0]?.requests_total === 1, 'a worker that is done');
  await othersAreServed(sluice);
  slow?.resume();
  const received = (await slow?.untilClosed()) ?? assert.fail();
  assert.match(received.subarray(0, 20).toString(), /^HTTP\/1\.1 200 /);
  assert.ok(received.length < 30_000_000, 'it is not passed off as whole');
  // What fits is kept however slow its reader is.
  const [patient] = await open(t, sluice, 1, '');
  patient?.pause();
  patient?.send(bytesOf('/big?bytes=900000'));
  await othersAreServed(sluice);
  patient?.resume();
  assert.equal((await patient?.response())?.body.length, 900_000);
});

const noProc = fs.existsSync('/proc/self/status') ? false : 'there is no /proc here';
const residentBytes = (pid: number): number =>
  1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

void test(
  'I6: chunks of one byte for clients that read nothing use limited memory',
  { skip: noProc },
  async (t) => {
    const clients = 2;
    const count = 400_000;
    const memory_bytes_max = 1_000_000;
    const sluice = await running(t, {
      entry: ownApp('corners.js'),
      workers: 1,
      env: { ...bounds({ response_memory_bytes_max: memory_bytes_max }), SLUICE_QUEUE_WAIT_MS_MAX: '60000' },
    });
    const gateway = await sluice.gatewayPid();
    const worker = pidOf((await sluice.status()).workers[0]);
    const before = residentBytes(gateway);
    const connections = await open(t, sluice, clients, '');
    for (const connection of connections) {
      connection.pause();
      connection.send(bytesOf(`/crumbs?count=${count}`));
    }
    await statusWhen(
      sluice,
      ({ workers }) => workers[0]?.requests_total === clients && workers[0].state === 'ready',
      'a worker that has said everything',
      60_000,
    );
    const grown = residentBytes(gateway) - before;
    // The rest is for buffers of sockets and for what the allocator keeps.
    assert.ok(grown < clients * memory_bytes_max + 4_000_000, `${grown} bytes for ${clients} clients`);
    for (const connection of connections) connection.resume();
    for (const connection of connections) {
      assert.equal((await connection.response({ deadlineMs: 30_000 })).body.length, count);
    }
    assert.equal(pidOf((await sluice.status()).workers[0]), worker);
  },
);

for (const [kind, target, args] of [
  ['slow headers', '/', ['-H', '-i', '1', '-t', 'GET']],
  ['slow bodies', '/upload', ['-B', '-i', '1', '-s', '8192', '-t', 'POST']],
  ['slow reads', '/big?bytes=3000000', ['-X', '-w', '1', '-y', '1', '-n', '1', '-z', '1', '-t', 'GET']],
] as const) {
  void test(`I2: ${kind} of slowhttptest hold no slot`, { skip: missing }, async (t) => {
    const sluice = await start(t);
    const attacker = attack(sluice, target, [...args]);
    t.after(attacker.stop);
    await statusWhen(sluice, (now) => now.connections >= 150, 'the attack', 20_000);
    // Slow readers are answered first: their requests are whole at once.
    await statusWhen(sluice, (now) => slotsHeld(now) === 0 && now.queue.length === 0, 'free slots', 30_000);
    await othersAreServed(sluice);
    assert.ok((await sluice.status()).connections >= 100, 'the attack goes on');
  });
}
