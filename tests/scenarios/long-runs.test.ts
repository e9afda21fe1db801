// Code that holds up its worker is told with its request and route: runs of the main thread, each planted in an app.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, end, running, sent } from './scenario.ts';
import { logged } from './stuck.ts';

interface Runs {
  counts: number[];
  requests_with: number[];
  longest: { ms: number; collected_ms: number; request: string | null; class: string | null }[];
}

interface Status {
  runs: Runs;
}

async function statusOf(sluice: Sluice): Promise<Status> {
  const { code, stdout, stderr } = await sluice.cli(['status', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Status;
}

/** The longest run of a class. */
const longestOf = ({ runs }: Status, name: string) =>
  runs.longest.filter((run) => run.class === name).toSorted((one, other) => other.ms - one.ms)[0];

test('each of several ways to hold up a worker is told with its request and route', async (t) => {
  const sluice = await running(t, { entry: app('long-runs.js') });
  const paths = ['/regex', '/sync-read', '/parse', '/collections'];
  for (const path of paths)
    await ask(sluice, `${path}?ms=250`, { headers: `X-Request-Id: of${path.slice(1)}\r\n` });
  await eventually(
    async () => {
      const status = await statusOf(sluice);
      return paths.every((path) => (longestOf(status, `GET ${path}`)?.ms ?? 0) >= 250);
    },
    { deadlineMs: 30_000, what: 'a long run of every path' },
  );
  const status = await statusOf(sluice);
  for (const path of paths) assert.ok(longestOf(status, `GET ${path}`)?.request, path);
  assert.ok((longestOf(status, 'GET /collections')?.collected_ms ?? 0) > 0, 'the collector is told apart');
  assert.ok((status.runs.requests_with[2] ?? 0) >= paths.length);
});

test('a first request that holds up its worker as soon as that is ready is told with its route', async (t) => {
  const sluice = await startSluice({ entry: app('long-runs.js'), workers: 1, waitUntilReady: false });
  t.after(() => end(sluice));
  const asked = await eventually(async () => sent(sluice, '/regex?ms=300'), {
    what: 'a gateway that listens',
  });
  assert.equal((await asked.response()).status, 200);
  asked.close();
  const run = await eventually(async () => longestOf(await statusOf(sluice), 'GET /regex'), {
    what: 'the run of the first request',
  });
  assert.ok(run.ms >= 300 && run.request, JSON.stringify(run));
});

test('a run for which its worker is replaced is told too, and raises its alarm', async (t) => {
  const env = { SLUICE_WORKERS_OVERDUE_AFTER_MS: '500', SLUICE_ALARMS_AFTER_S: '1' };
  const sluice = await running(t, { entry: app('long-runs.js'), workers: 1, env });
  // The worker is replaced from its answer on, and its run has not ended then.
  assert.equal((await ask(sluice, '/regex?ms=2500&after=400')).status, 200);
  const { worker } = await logged(sluice, 'worker_overdue');
  const run = await logged(sluice, 'long_run');
  assert.deepEqual([run['worker'], run['target']], [worker, '/regex?ms=2500&after=400']);
  const raised = await logged(sluice, 'alarm_raised');
  assert.equal(raised['alarm'], 'long_run');
  assert.notEqual((await sluice.status()).workers[0]?.id, worker);
});
