// server.connections_max bounds every connection from its accept on, and the operator is told of refusals.
import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { assertRefused, bytesOf, running, statusWhen } from './scenario.ts';
import { missing, startTls, tlsConnection } from './with-tls.ts';

const limit = 5;
const env = {
  SLUICE_SERVER_CONNECTIONS_MAX: String(limit),
  SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '1000',
};

const notesOf = (sluice: Sluice): Record<string, unknown>[] =>
  sluice.logs.filter((line) => String(line['text']).includes('server.connections_max'));

/** Connections that say nothing; the kernel accepts them all, the gateway keeps some. */
async function burst(t: TestContext, sluice: Sluice, count: number): Promise<RawConnection[]> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => RawConnection.connect(sluice.port)),
  );
  t.after(() => {
    for (const connection of connections) connection.close();
  });
  return connections;
}

async function oneNote(sluice: Sluice): Promise<void> {
  const [note] = await eventually(() => (notesOf(sluice).length > 0 ? notesOf(sluice) : undefined), {
    what: 'a note about refused connections',
  });
  assert.equal(note?.['level'], 'warn');
  assert.match(String(note['text']), /^\d+ connections were refused/);
}

void test('I6: connections over server.connections_max get 503, and the log has one note', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env });
  await statusWhen(sluice, ({ connections }) => connections === 0, 'the end of the probes');
  const connections = await burst(t, sluice, 20);
  const refused = await eventually(
    () => {
      const closed = connections.filter((connection) => connection.closed);
      return closed.length >= 20 - limit ? closed : undefined;
    },
    { what: 'the refusals' },
  );
  assert.equal(refused.length, 20 - limit);
  for (const connection of refused) {
    const response = await connection.response();
    assertRefused(response, 503, 'SLU-CONNECTIONS-FULL');
    const id = response.headers.get('x-request-id') ?? '';
    assert.notEqual(id, '');
    assert.ok(response.body.toString().endsWith(`code: SLU-CONNECTIONS-FULL\nrequest: ${id}\n`));
  }
  assert.equal((await sluice.status()).connections, limit);
  await oneNote(sluice);
  assert.equal(notesOf(sluice).length, 1, 'a flood is one line');

  // Those that got in are served, and a place that is given back is taken again.
  const kept = connections.filter((connection) => !connection.closed);
  kept[0]?.send(bytesOf('/spin?ms=1'));
  assert.equal((await kept[0]?.response())?.status, 200);
  kept[1]?.close();
  await statusWhen(sluice, (now) => now.connections === limit - 1, 'a free place');
  const [late] = await burst(t, sluice, 1);
  late?.send(bytesOf('/spin?ms=1'));
  assert.equal((await late?.response())?.status, 200);
});

void test(
  'I6: handshakes that never end count against server.connections_max',
  { skip: missing },
  async (t) => {
    const { sluice, ca } = await startTls(t, { entry: app('spin.js'), env });
    const stalled = await burst(t, sluice, 20);
    const refused = await eventually(
      () => {
        const closed = stalled.filter((connection) => connection.closed);
        return closed.length >= 20 - limit ? closed : undefined;
      },
      { what: 'the refusals', deadlineMs: 5_000 },
    );
    assert.equal(refused.length, 20 - limit);
    assert.equal((await sluice.status()).connections, limit);
    await oneNote(sluice);
    const shut = net.connect(sluice.port, '127.0.0.1').on('error', () => {});
    await once(shut, 'close');

    for (const connection of stalled) connection.close();
    await statusWhen(sluice, ({ connections }) => connections === 0, 'the end of the handshakes');
    const client = await tlsConnection(sluice, ca);
    client.write(bytesOf('/spin?ms=1'));
    const [answer] = (await once(client, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    client.destroy();
  },
);

void test(
  'a handshake that never ends is given up after the time for headers',
  { skip: missing },
  async (t) => {
    const timeout = bounds({ headers_timeout_ms: 500 });
    const { sluice } = await startTls(t, { entry: app('spin.js'), env: timeout });
    const stalled = await burst(t, sluice, 3);
    for (const connection of stalled) await connection.untilClosed(5_000);
    await statusWhen(sluice, ({ connections }) => connections === 0, 'no connection left');
  },
);

void test('I6: one address is limited to server.connections_per_address_max, and a trusted one is not limited', async (t) => {
  const own = { SLUICE_SERVER_CONNECTIONS_PER_ADDRESS_MAX: '3' };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env: own });
  await statusWhen(sluice, ({ connections }) => connections === 0, 'the end of the probes');
  const connections = await burst(t, sluice, 8);
  const refused = await eventually(
    () => {
      const closed = connections.filter((connection) => connection.closed);
      return closed.length >= 5 ? closed : undefined;
    },
    { what: 'the refusals' },
  );
  assert.equal(refused.length, 5);
  for (const connection of refused) assertRefused(await connection.response(), 503, 'SLU-CONNECTIONS-FULL');
  await eventually(
    () =>
      sluice.logs.some((line) =>
        /127\.0\.0\.1 has server\.connections_per_address_max/.test(String(line['text'])),
      ),
    { what: 'a note that names the address' },
  );

  const config = '[server]\nconnections_per_address_max = 3\ntrusted_peers = ["127.0.0.1"]\n';
  const trusting = await running(t, { entry: app('spin.js'), workers: 1, config });
  const many = await burst(t, trusting, 8);
  for (const connection of many) {
    connection.send(bytesOf('/spin?ms=1'));
    assert.equal((await connection.response()).status, 200);
  }
});

void test('the connection that is idle for longest closes where a new one finds no room', async (t) => {
  const lasting = { ...env, SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '600000' };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env: lasting });
  await statusWhen(sluice, ({ connections }) => connections === 0, 'the end of the probes');
  const kept: RawConnection[] = [];
  for (let at = 0; at < limit; at++) {
    const [connection] = await burst(t, sluice, 1);
    connection?.send(bytesOf('/spin?ms=1'));
    assert.equal((await connection?.response())?.status, 200);
    if (connection) kept.push(connection);
  }
  // The first works once more, so that the second has been idle for longest.
  kept[0]?.send(bytesOf('/spin?ms=1'));
  assert.equal((await kept[0]?.response())?.status, 200);
  const [late] = await burst(t, sluice, 1);
  late?.send(bytesOf('/spin?ms=1'));
  assert.equal((await late?.response())?.status, 200);
  assert.equal((await kept[1]?.untilClosed())?.length, 0, 'it is closed without a word');
  assert.deepEqual(
    kept.map((connection) => connection.closed),
    [false, true, false, false, false],
  );
});
