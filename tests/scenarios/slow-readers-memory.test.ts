// Clients that do not read their answers: the gateway's memory for all of them together has one bound, and is given back.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, bytesOf, ownApp, running, statusWhen } from './scenario.ts';

const noProc = fs.existsSync('/proc/self/status') ? false : 'there is no /proc here';
const residentBytes = (pid: number): number =>
  1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Bytes that the kernel holds for each connection of a port, unsent or not acknowledged. */
function sendQueues(port: number): number[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6']
    .flatMap((name) => fs.readFileSync(`/proc/net/${name}`, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) === true && state === '01')
    .map(([, , , , queues]) => Number.parseInt(queues?.split(':')[0] ?? '', 16));
}

async function metric(sluice: Sluice, name: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? assert.fail(`${name} is missing`));
}

/** Clients whose request is on its way and who read nothing. */
async function deaf(sluice: Sluice, count: number, target: string): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  for (let at = 0; at < count; at++) {
    const connection = await RawConnection.connect(sluice.port);
    connection.pause();
    connection.send(bytesOf(target));
    connections.push(connection);
  }
  return connections;
}

void test(
  'I6: unread data of many clients stays within memory.buffers_bytes_max in total, and is freed',
  { skip: noProc },
  async (t) => {
    const [clients, bytes, bound] = [60, 6_000_000, 8_000_000];
    const sluice = await running(t, {
      entry: app('spin.js'),
      workers: 1,
      env: {
        SLUICE_MEMORY_BUFFERS_BYTES_MAX: String(bound),
        ...bounds({ response_memory_bytes_max: bytes }),
        SLUICE_QUEUE_WAIT_MS_MAX: '60000',
      },
    });
    const gateway = await sluice.gatewayPid();
    await ask(sluice, '/spin?ms=1');
    const before = residentBytes(gateway);
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentBytes(gateway));
    }, 10);
    const connections = await deaf(sluice, clients, `/big?bytes=${bytes}`);
    t.after(() => {
      for (const connection of connections) connection.close();
    });
    await statusWhen(
      sluice,
      ({ workers }) => (workers[0]?.requests_total ?? 0) > clients && workers[0]?.state === 'ready',
      'a worker that has said everything',
      60_000,
    ).finally(() => {
      clearInterval(watch);
    });
    // The rest is for buffers on their way to a disk and for the connections themselves.
    assert.ok(peak - before < bound + 24_000_000, `${peak - before} bytes for ${clients} clients`);
    // In the end all that nobody takes is in files.
    await eventually(async () => (await metric(sluice, 'sluice_memory_buffers_bytes')) < 200_000, {
      deadlineMs: 20_000,
      what: 'memory for others',
    });
    assert.ok((await metric(sluice, 'sluice_temp_bytes')) > (clients * bytes) / 2, 'the answers are kept');
    assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
    const [reader, ...others] = connections;
    reader?.resume();
    assert.equal(
      (await reader?.response({ deadlineMs: 30_000 }))?.body.equals(Buffer.alloc(bytes, 'x')),
      true,
    );
    for (const connection of others) connection.close();
    await eventually(async () => (await metric(sluice, 'sluice_temp_bytes')) === 0, {
      deadlineMs: 20_000,
      what: 'files given back',
    });
    await eventually(() => residentBytes(gateway) - before < 16_000_000, {
      deadlineMs: 20_000,
      what: 'memory given back to the system',
    });
  },
);

void test('a response in chunks that was set aside arrives whole when its client reads on', async (t) => {
  const sluice = await running(t, { entry: ownApp('corners.js'), workers: 1 });
  const [client] = await deaf(sluice, 1, '/pieces?count=400&bytes=7001');
  assert.ok(client);
  t.after(() => {
    client.close();
  });
  await eventually(async () => (await metric(sluice, 'sluice_temp_bytes')) > 1_000_000, {
    deadlineMs: 20_000,
    what: 'an answer that is set aside',
  });
  client.resume();
  const { body } = await client.response({ deadlineMs: 30_000 });
  const expected = Buffer.concat(
    Array.from({ length: 400 }, (_, at) => Buffer.alloc(7001, String.fromCharCode(97 + (at % 26)))),
  );
  assert.ok(body.equals(expected), `${body.length} bytes`);
  client.send(bytesOf('/pieces?count=1&bytes=3'));
  assert.equal((await client.response()).body.toString(), 'aaa');
});

void test('bytes that an app writes one by one are gathered', async (t) => {
  const sluice = await running(t, { entry: ownApp('corners.js'), workers: 1 });
  const client = await RawConnection.connect(sluice.port);
  t.after(() => {
    client.close();
  });
  const count = 2000;
  client.send(bytesOf(`/letters?count=${count}`, 'Connection: close\r\n'));
  const begun = performance.now();
  const lines = (await client.untilClosed(60_000)).toString('latin1').split('\r\n');
  const tookMs = performance.now() - begun;
  assert.equal(lines.filter((line) => /^z+$/.test(line)).join('').length, count);
  const chunks = lines.filter((line) => /^z+$/.test(line)).length;
  // One each 5 ms at most, with room for the first, the last and what a busy machine does to a clock.
  assert.ok(chunks <= Math.min(count / 2, tookMs / 4 + 20), `${chunks} chunks in ${tookMs} ms`);
});

void test(
  'I6: the kernel buffers little for a client that does not read if memory is scarce',
  { skip: noProc },
  async (t) => {
    const [clients, bytes] = [10, 1_000_000];
    const sluice = await running(t, {
      entry: app('spin.js'),
      workers: 1,
      env: { SLUICE_MEMORY_BUFFERS_BYTES_MAX: String(32 << 20) },
    });
    const connections = await deaf(sluice, clients, `/big?bytes=${bytes}`);
    t.after(() => {
      for (const connection of connections) connection.close();
    });
    // The rest is in files: nobody takes anything any more.
    await eventually(
      async () =>
        (await metric(sluice, 'sluice_temp_bytes')) > 0 &&
        (await metric(sluice, 'sluice_memory_buffers_bytes')) < 100_000,
      { deadlineMs: 30_000, what: 'answers in files' },
    );
    const queues = sendQueues(sluice.port).filter((held) => held > 0);
    assert.equal(queues.length, clients);
    // A write of 8 KiB is begun while less than that is unsent.
    assert.ok(Math.max(...queues) <= 16 << 10, `${queues.join(', ')} bytes`);
  },
);
