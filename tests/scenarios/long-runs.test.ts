// Code that holds up its worker is told with its request and route: runs of the main thread, each planted in an app.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, end, running, sent } from './scenario.ts';
import { logged, stuckApp } from './stuck.ts';

interface Runs {
  counts: number[];
  requests_with: number[];
  longest: {
    ms: number;
    collected_ms: number;
    spent: string | null;
    request: string | null;
    class: string | null;
  }[];
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

test('a synchronous wait is told with its CPU time, and not to become cheaper', async (t) => {
  if (process.platform !== 'linux') return t.skip('other systems do not tell a wait from a missing CPU');
  const env = bounds({ overdue_after_ms: 0 });
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  // Runs are told from some moments after the start on.
  const run = await eventually(
    async () => {
      assert.equal((await ask(sluice, '/pause?token=secret')).status, 200);
      return sluice.logs.find((line) => line['event'] === 'long_run' && line['class'] === 'GET /pause');
    },
    { deadlineMs: 40_000, what: 'the run in the log' },
  );
  assert.equal(run['spent'], 'waiting', JSON.stringify(run));
  assert.ok(Number(run['cpu_ms']) < Number(run['run_ms']) / 2, JSON.stringify(run));
  const raised = await eventually(
    () => sluice.logs.find((line) => line['event'] === 'alarm_raised' && line['class'] === 'GET /pause'),
    { what: 'its alarm' },
  );
  assert.match(String(raised['text']), /asynchronous call/);
  assert.doesNotMatch(String(raised['text']), /secret/);
  const { runs } = await statusOf(sluice);
  assert.equal(runs.longest.find((one) => one.class === 'GET /pause')?.spent, 'waiting');
});

test('a run for which its worker is replaced is told too, and raises its alarm', async (t) => {
  const env = bounds({ overdue_after_ms: 500, alarm_after_s: 1 });
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
