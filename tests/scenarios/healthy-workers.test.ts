// Trouble that is not a worker's fault costs no worker: a full backlog, descriptors that ran out, requests that Node's
// parser does not take.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { repositoryDir, type Sluice, type StartOptions } from '../support/sluice.ts';
import {
  allReady,
  ask,
  assertRefused,
  bytesOf,
  ownApp,
  pidOf,
  running,
  sent,
  statusWhen,
} from './scenario.ts';

const corners = ownApp('corners.js');

/** Asserts at the test's end that the workers are those of its beginning. */
async function nobodyIsReplaced(sluice: Sluice, workers: number, work: () => Promise<void>): Promise<void> {
  const pids = (await allReady(sluice, workers)).workers.map(pidOf);
  await work();
  const after = await allReady(sluice, workers);
  assert.deepEqual(after.workers.map(pidOf), pids);
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_exited'));
}

void test('a worker whose backlog is full because it computes is not replaced', async (t) => {
  // Standing still for so long gets it a stand-in, which is another matter.
  const env = {
    SLUICE_WORKERS_CONCURRENCY: '1000',
    SLUICE_QUEUE_LENGTH_MAX: '2000',
    ...bounds({ overdue_after_ms: 0 }),
  };
  const sluice = await running(t, { entry: corners, workers: 1, env });
  await nobodyIsReplaced(sluice, 1, async () => {
    const blocked = await sent(sluice, '/block?ms=1500');
    // Node lets the kernel keep 511 connections that it has not accepted yet.
    const answers = await Promise.all(
      Array.from({ length: 700 }, (_, index) => ask(sluice, `/${index}`, { deadlineMs: 20_000 })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal((await blocked.response()).status, 200);
    blocked.close();
  });
});

const headers = (bytes: number): string => `X-Large: ${'a'.repeat(bytes)}\r\n`;

void test('requests that Node does not take are refused at the gateway, even by apps that destroy sockets', async (t) => {
  const sluice = await running(t, { entry: corners, workers: 2 });
  await nobodyIsReplaced(sluice, 2, async () => {
    for (let round = 0; round < 4; round++) {
      for (const method of ['FOO', 'get', 'PURGED']) {
        assertRefused(await ask(sluice, '/', { method }), 501, 'SLU-METHOD-UNSUPPORTED');
      }
      // Just under the gateway's own limits, which are more together than what Node takes unless told otherwise.
      const target = `/${'t'.repeat(8_000)}`;
      const response = await ask(sluice, target, { headers: headers(16_000) });
      assert.deepEqual(
        [response.status, response.body.toString().split(' ').slice(1)],
        [200, ['GET', `${target}\n`]],
      );
    }
    for (const method of ['PROPFIND', 'M-SEARCH', 'PURGE', 'QUERY']) {
      const response = await ask(sluice, '/known', { method });
      // Not every version of Node knows every method; the app's own way to refuse is an answer, too.
      if (response.status === 200) assert.match(response.body.toString(), new RegExp(` ${method} /known\n$`));
      else assert.ok([501, 502].includes(response.status), `${method}: ${response.status}`);
    }
  });
});

void test('raised limits of the gateway for headers are raised at the worker, too', async (t) => {
  const env = {
    SLUICE_SERVER_HEADERS_BYTES_MAX: '100000',
    ...bounds({ request_line_bytes_max: 50_000 }),
  };
  const sluice = await running(t, { entry: corners, workers: 1, env });
  await nobodyIsReplaced(sluice, 1, async () => {
    const response = await ask(sluice, `/${'t'.repeat(49_000)}`, { headers: headers(99_000) });
    assert.equal(response.status, 200);
    assertRefused(await ask(sluice, '/', { headers: headers(101_000) }), 431, 'SLU-HEADERS-TOO-LARGE');
  });
});

/** A gateway that may open so many descriptors, as a shell's `ulimit -n` says. */
async function withDescriptors(t: TestContext, count: number, options: StartOptions): Promise<Sluice> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-ulimit-'));
  const wrapper = path.join(dir, 'sluice');
  const known = process.env['SLUICE_BINARY'];
  const program =
    known ?? `${process.execPath}" "${path.join(repositoryDir, 'packages/sluice/bin/sluice.js')}`;
  fs.writeFileSync(wrapper, `#!/bin/sh\nulimit -n ${count}\nexec "${program}" "$@"\n`, { mode: 0o755 });
  process.env['SLUICE_BINARY'] = wrapper;
  try {
    const sluice = await running(t, options);
    t.after(() => {
      fs.rmSync(dir, { recursive: true, force: true });
    });
    return sluice;
  } finally {
    if (known === undefined) delete process.env['SLUICE_BINARY'];
    else process.env['SLUICE_BINARY'] = known;
  }
}

async function idle(t: TestContext, sluice: Sluice, count: number): Promise<RawConnection[]> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => RawConnection.connect(sluice.port)),
  );
  t.after(() => {
    for (const connection of connections) connection.close();
  });
  return connections;
}

const shortIdle = { SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '200' };

void test('clients cannot take the descriptors that workers need', async (t) => {
  const sluice = await withDescriptors(t, 100, { entry: corners, workers: 2, env: shortIdle });
  await nobodyIsReplaced(sluice, 2, async () => {
    const said = /connections_max is (\d+) here.*100 descriptors/.exec(sluice.stderr);
    const limit = Number(said?.[1]);
    assert.ok(limit >= 20, sluice.stderr);
    await statusWhen(sluice, (now) => now.connections === 0, 'the end of the probes');
    const connections = await idle(t, sluice, 150);
    const open = () => connections.filter(({ closed }) => !closed);
    await eventually(() => open().length <= limit, { what: 'refused connections' });
    assert.equal(open().length, limit);
    const answers = open().map(async (connection) => {
      connection.send(bytesOf('/'));
      return (await connection.response()).status;
    });
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]));
    for (const connection of connections) connection.close();
    await statusWhen(sluice, (now) => now.connections === 0, 'no connection left');
  });
});

const noLimits = spawnSync('prlimit', ['--version']).error === undefined ? false : 'prlimit is not installed';

void test(
  'a gateway that is out of descriptors keeps its workers and goes on',
  { skip: noLimits },
  async (t) => {
    const sluice = await running(t, { entry: corners, workers: 2 });
    await nobodyIsReplaced(sluice, 2, async () => {
      const [first, second] = await idle(t, sluice, 2);
      assert.ok(first && second);
      // The first worker has a connection from now on, the second has none.
      first.send(bytesOf('/warm'));
      assert.equal((await first.response()).status, 200);
      // Taken away while it runs, so that no bound of its own can help: nothing at all can be opened now.
      const gateway = String(await sluice.gatewayPid());
      const limited = spawnSync('prlimit', ['--pid', gateway, '--nofile=3:']);
      if (limited.status !== 0) return t.skip('limits cannot be set here');
      const others = await idle(t, sluice, 5);
      first.send(bytesOf('/block?ms=1000'));
      await eventually(() => sluice.logs.some(({ text }) => String(text).startsWith('cannot accept')), {
        what: 'a note about connections that cannot be accepted',
      });
      second.send(bytesOf('/needs-a-connection'));
      assert.equal((await first.response()).status, 200);
      for (const connection of others) connection.send(bytesOf('/waited'));
      assert.equal(spawnSync('prlimit', ['--pid', gateway, '--nofile=1024:']).status, 0);
      for (const connection of [second, ...others]) assert.equal((await connection.response()).status, 200);
      const notes = sluice.logs.filter(({ text }) => String(text).startsWith('cannot accept'));
      assert.ok(notes.length <= 2, `${notes.length} notes of the same`);
    });
  },
);
