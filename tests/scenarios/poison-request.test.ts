// A request that workers die with: it ends two of them, then it reaches none, until somebody or time lets it go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { eventually } from '../support/eventually.ts';
import {
  allReady,
  ask,
  assertRefused,
  ownApp,
  pidOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

const quick = bounds({ backoff_ms_min: 1, backoff_ms_max: 10 });
const entry = ownApp('poison.js');

interface Listed {
  quarantined: { id: string; method: string; target: string; deaths: number; expires_in_ms: number }[];
  released?: number;
}

async function list(sluice: Sluice, ...args: string[]): Promise<Listed> {
  const { code, stdout, stderr } = await sluice.cli(['quarantine', '--json', ...args]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Listed;
}

async function deaths(sluice: Sluice, workers: number): Promise<number> {
  const snapshot = await allReady(sluice, workers);
  return snapshot.workers.reduce((sum, { restarts_total }) => sum + restarts_total, 0);
}

void test('I5: a GET that crashes workers crashes two, is listed, and can be released', async (t) => {
  const sluice = await running(t, { entry, workers: 3, env: quick });
  const target = `/poison?${'x'.repeat(300)}`;
  assertRefused(await ask(sluice, target), 502, 'SLU-WORKER-DIED');
  for (let time = 0; time < 5; time++)
    assertRefused(await ask(sluice, target), 500, 'SLU-REQUEST-QUARANTINED');
  assert.equal(await deaths(sluice, 3), 2);
  assert.equal((await ask(sluice, '/other')).status, 200);
  const { quarantined } = await list(sluice);
  assert.equal(quarantined.length, 1);
  const entryListed = quarantined[0];
  assert.ok(entryListed);
  assert.deepEqual(
    [entryListed.method, entryListed.target, entryListed.deaths],
    ['GET', target.slice(0, 200), 2],
  );
  assert.ok(entryListed.expires_in_ms > 500_000 && entryListed.expires_in_ms <= 600_000);
  assert.match((await sluice.cli(['status'])).stdout, /^quarantine +1 requests/m);
  assert.match((await sluice.cli(['quarantine'])).stdout, new RegExp(`^${entryListed.id} `, 'm'));
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(page, /^sluice_quarantined_requests 1$/m);
  assert.match(page, /^sluice_quarantine_refused_total 5$/m);
  await eventually(
    () =>
      sluice.logs.some(
        ({ event, level, text }) =>
          event === 'request_quarantined' && level === 'warn' && String(text).includes(entryListed.id),
      ),
    { what: 'the line in the log' },
  );

  for (let time = 0; time < 25; time++)
    assertRefused(await ask(sluice, target), 500, 'SLU-REQUEST-QUARANTINED');
  const alarmed = await statusWhen(
    sluice,
    ({ alarms }) => alarms.some(({ alarm }) => alarm === 'quarantine'),
    'the alarm',
  );
  assert.equal(alarmed.requests.outcomes['quarantined'], 30);
  const check = await eventually(
    async () => {
      const checked = await sluice.cli(['status', '--check']);
      return checked.stdout.includes('quarantined 30') ? checked : undefined;
    },
    { what: 'the failures of the last minute' },
  );
  assert.equal(check.code, 2, check.stdout);

  const unknown = await sluice.cli(['quarantine', '--release', 'nothing']);
  assert.deepEqual([unknown.code, /nothing/.test(unknown.stderr)], [1, true]);
  assert.deepEqual(await list(sluice, '--release', entryListed.id), { quarantined: [], released: 1 });
  // It is as new: two more workers.
  assertRefused(await ask(sluice, target), 502, 'SLU-WORKER-DIED');
  assertRefused(await ask(sluice, target), 500, 'SLU-REQUEST-QUARANTINED');
  assert.equal(await deaths(sluice, 3), 4);
  assert.equal((await list(sluice, '--release', 'all')).released, 1);
});

void test('I5: a POST that crashes workers crashes two; another body is another request', async (t) => {
  const sluice = await running(t, { entry, workers: 3, env: quick });
  const post = (body: string) => ask(sluice, '/submit', { method: 'POST', body });
  // Larger than what is kept in memory, and alike but for the end.
  for (const bulk of ['', 'x'.repeat(600_000)]) {
    const before = await deaths(sluice, 3);
    assertRefused(await post(`${bulk}poison`), 502, 'SLU-WORKER-DIED');
    assertRefused(await post(`${bulk}poison`), 502, 'SLU-WORKER-DIED');
    for (let time = 0; time < 3; time++) {
      assertRefused(await post(`${bulk}poison`), 500, 'SLU-REQUEST-QUARANTINED');
      assert.equal((await post(`${bulk}plain.`)).status, 200);
    }
    assert.equal((await deaths(sluice, 3)) - before, 2);
  }
  assert.equal((await list(sluice)).quarantined.length, 2);
});

void test('a request in quarantine keeps its connection, has no body for HEAD, and says so in the log', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env: quick });
  assertRefused(await ask(sluice, '/poison', { method: 'HEAD' }), 502, 'SLU-WORKER-DIED');
  const refused = await ask(sluice, '/poison', { method: 'HEAD' });
  assertRefused(refused, 500, 'SLU-REQUEST-QUARANTINED');
  assert.equal(refused.headers.get('connection'), undefined);
  // The order is not that of the requests: a line waits a while for what the worker reports of its CPU time.
  for (const [error, tries, outcome] of [
    ['SLU-WORKER-DIED', 2, 'worker_died'],
    ['SLU-REQUEST-QUARANTINED', 0, 'quarantined'],
  ]) {
    const line = await eventually(() => sluice.logs.find((found) => found['error'] === error), {
      what: `the access log line with ${error}`,
    });
    assert.deepEqual([line['tries'], line['outcome']], [tries, outcome]);
  }
});

void test('quarantine ends by itself', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env: { ...quick, SLUICE_QUARANTINE_TTL_MS: '1500' } });
  assertRefused(await ask(sluice, '/poison'), 502, 'SLU-WORKER-DIED');
  assertRefused(await ask(sluice, '/poison'), 500, 'SLU-REQUEST-QUARANTINED');
  await eventually(async () => (await list(sluice)).quarantined.length === 0, {
    what: 'the end of the quarantine',
  });
  assertRefused(await ask(sluice, '/poison'), 502, 'SLU-WORKER-DIED');
});

void test('quarantine can be switched off', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env: { ...quick, SLUICE_QUARANTINE_TTL_MS: '0' } });
  for (let time = 0; time < 3; time++) assertRefused(await ask(sluice, '/poison'), 502, 'SLU-WORKER-DIED');
  assert.equal((await list(sluice)).quarantined.length, 0);
});

void test('I5: when a request is known to crash workers, waiting clients with the same request reach no worker', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env: quick });
  const responses = await Promise.all(Array.from({ length: 12 }, () => ask(sluice, '/poison')));
  assert.ok(responses.every(({ status }) => status === 502 || status === 500));
  assert.ok(responses.filter(({ status }) => status === 500).length >= 6, 'most were spared');
  // Two were in the two workers at once; each that came after them made the second death.
  const count = await deaths(sluice, 2);
  assert.ok(count >= 2 && count <= 4, `${count} workers died`);
  assert.equal((await ask(sluice, '/other')).status, 200);
});

void test('I5: a worker that dies before it has read a request does not count against it', async (t) => {
  if (process.platform !== 'linux') return t.skip('other systems do not tell that it was not read');
  const sluice = await running(t, { entry, workers: 2, env: quick });
  await allReady(sluice, 2);
  const target = '/slow?ms=60000';
  const client = await sent(sluice, target);
  const held = await statusWhen(sluice, (snapshot) => slotsHeld(snapshot) === 1, 'a worker with the request');
  const first = held.workers.find(({ current }) => current.length === 1);
  const second = held.workers.find(({ current }) => current.length === 0);
  // As if both had been killed at once, and the death of one were known a little sooner.
  process.kill(pidOf(second), 'SIGSTOP');
  process.kill(pidOf(first), 'SIGKILL');
  await statusWhen(
    sluice,
    ({ workers }) => workers.some(({ id, current }) => id === second?.id && current.length === 1),
    'the other worker with it',
  );
  process.kill(pidOf(second), 'SIGKILL');
  assertRefused(await client.response(), 502, 'SLU-WORKER-DIED');
  await allReady(sluice, 2);
  assert.deepEqual((await list(sluice)).quarantined, []);
});
