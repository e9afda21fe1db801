// The app's HTTP calls to other hosts are told by host in the status and in metrics, so that a slow upstream has a name.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import type { CalledHostSnapshot } from '../support/snapshot.ts';
import { allReady, ask, ownApp, pidOf, running } from './scenario.ts';
import { metric } from './stuck.ts';

const CALLS = 20;

interface Upstream {
  host: string;
  held: http.ServerResponse[];
  /** Answers nobody from now on. */
  hang: () => void;
}

async function upstream(t: TestContext, delay_ms: number, status = 200): Promise<Upstream> {
  const held: http.ServerResponse[] = [];
  let hangs = false;
  const server = http.createServer((_request, response) => {
    if (hangs) held.push(response);
    else setTimeout(() => response.writeHead(status).end('ok'), delay_ms);
  });
  await once(server.listen(0), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return { host, held, hang: () => (hangs = true) };
}

async function called(
  sluice: Sluice,
  isSo: (hosts: readonly CalledHostSnapshot[]) => boolean,
): Promise<readonly CalledHostSnapshot[]> {
  return eventually(
    async () => {
      const { called: hosts } = await sluice.status();
      return isSo(hosts) ? hosts : undefined;
    },
    { deadlineMs: 30_000, what: 'the calls of workers' },
  );
}

const callsTo = (hosts: readonly CalledHostSnapshot[], host: string): number =>
  hosts.find((one) => one.host === host)?.calls_total ?? 0;

void test('the slow one of two hosts comes first, by fetch and by http, and failures are told', async (t) => {
  const [quick, slow] = [await upstream(t, 0), await upstream(t, 60, 503)];
  const env = { UPSTREAMS: `${quick.host},${slow.host}` };
  const sluice = await running(t, { entry: ownApp('calls-others.cjs'), workers: 2, env });
  assert.deepEqual((await sluice.status()).called, []);
  assert.doesNotMatch((await sluice.cli(['status'])).stdout, /\ncalls /);
  await allReady(sluice, 2);
  for (let at = 0; at < CALLS; at += 1) await ask(sluice, at % 2 === 0 ? '/fetch?secret' : '/http?secret');
  const hosts = await called(sluice, (all) => callsTo(all, slow.host) === CALLS);
  assert.deepEqual(
    hosts.map(({ host, calls_total, errors_total, failures_total, waiting }) => [
      host,
      calls_total,
      errors_total,
      failures_total,
      waiting,
    ]),
    [
      [slow.host, CALLS, 0, CALLS, 0],
      [quick.host, CALLS, 0, 0, 0],
    ],
  );
  const [first] = hosts as readonly [CalledHostSnapshot];
  assert.ok(first.share > 0.5 && (first.p50_ms ?? 0) > 50, JSON.stringify(hosts));
  const text = (await sluice.cli(['status'])).stdout;
  assert.match(text, new RegExp(`\\ncalls         ${slow.host}: ${CALLS} in the last minute, p50 `));
  assert.doesNotMatch(text, /secret/);
  assert.equal(await metric(sluice, `sluice_app_calls_total{called="${slow.host}"}`), CALLS);
  assert.equal(await metric(sluice, `sluice_app_call_failures_total{called="${slow.host}"}`), CALLS);
  assert.equal(await metric(sluice, `sluice_app_call_answers_total{called="${quick.host}"}`), CALLS);
});

void test('a host that hangs is told by the calls that wait, until their worker is gone', async (t) => {
  const stuck = await upstream(t, 0);
  stuck.hang();
  const sluice = await running(t, {
    entry: ownApp('calls-others.cjs'),
    workers: 1,
    env: { UPSTREAMS: stuck.host },
  });
  await allReady(sluice, 1);
  const asked = ask(sluice, '/fetch', { deadlineMs: 60_000 }).catch(() => {});
  const [host] = (await called(sluice, ([one]) => (one?.oldest_ms ?? 0) > 0)) as readonly [
    CalledHostSnapshot,
  ];
  assert.deepEqual([host.waiting, host.p50_ms], [1, null]);
  assert.match((await sluice.cli(['status'])).stdout.replaceAll(/\s+/g, ' '), /; 1 waiting, the first for /);
  const before = pidOf((await sluice.status()).workers[0]);
  process.kill(before, 'SIGKILL');
  // Its request may be on its way to the next worker, which asks the same host.
  await eventually(
    async () => {
      const { workers, called: hosts } = await sluice.status();
      return workers.every(({ pid }) => pid !== before) && (hosts[0]?.waiting ?? 0) <= 1;
    },
    { deadlineMs: 30_000, what: 'the end of its calls' },
  );
  for (const response of stuck.held) response.end();
  await asked;
});

void test('a host that refuses has calls without an answer', async (t) => {
  const env = { UPSTREAMS: 'localhost:2' };
  const sluice = await running(t, { entry: ownApp('calls-others.cjs'), workers: 1, env });
  await ask(sluice, '/http');
  const [host] = (await called(sluice, ([one]) => (one?.errors_total ?? 0) > 0)) as readonly [
    CalledHostSnapshot,
  ];
  assert.deepEqual([host.host, host.errors_total, host.p50_ms], ['localhost:2', 1, null]);
});
