// CPU time is each request's own, however many share a worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

const entry = app('shared.js');
const CONCURRENCY = 20;
const env = { SLUICE_WORKERS_CONCURRENCY: String(CONCURRENCY), SLUICE_WORKERS_LANES: 'off' };

interface Costs {
  known_ms: number[];
  unknown: number;
}

/** What the access log says of requests for this target, from this line on. */
function costsOf(sluice: Sluice, target: string, from = 0): Costs {
  const lines = sluice.logs
    .slice(from)
    .filter((line) => line['event'] === 'access' && line['target'] === target);
  const costs = lines.map(({ cpu_ms }) => cpu_ms);
  const known_ms = costs.filter((cost) => typeof cost === 'number');
  return { known_ms, unknown: costs.length - known_ms.length };
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** So many users ask for the targets in turn until `isOver`. */
async function load(sluice: Sluice, targets: string[], users: number, isOver: () => boolean): Promise<void> {
  let sent = 0;
  const user = async (): Promise<void> => {
    while (!isOver()) {
      const target = targets[sent++ % targets.length] ?? '';
      assert.equal((await ask(sluice, target, { deadlineMs: 60_000 })).status, 200);
    }
  };
  await Promise.all(Array.from({ length: users }, user));
}

async function alone(sluice: Sluice, target: string, count: number): Promise<number> {
  const from = sluice.logs.length;
  for (let asked = 0; asked < count; asked += 1) await ask(sluice, target);
  await eventually(() => costsOf(sluice, target, from).known_ms.length === count, {
    deadlineMs: 15_000,
    what: `the costs of ${target} alone, all of them`,
  });
  return mean(costsOf(sluice, target, from).known_ms);
}

const mix = (light: string, heavy: string): string[] => [...Array.from({ length: 9 }, () => light), heavy];

void test('a request costs the same alone and beside others that use the CPU while it waits', async (t) => {
  const sluice = await running(t, { entry, workers: 1, env });
  const alone_ms = {
    '/light': await alone(sluice, '/light', 40),
    '/heavy': await alone(sluice, '/heavy', 8),
  };
  for (const users of [5, CONCURRENCY]) {
    const from = sluice.logs.length;
    const give_up_at = Date.now() + 60_000;
    // A new worker measures all for some seconds, and a sample from then on.
    const isSampled = () => users < CONCURRENCY || costsOf(sluice, '/light', from).unknown > 0;
    const enough = () =>
      isSampled() &&
      costsOf(sluice, '/light', from).known_ms.length >= 40 &&
      costsOf(sluice, '/heavy', from).known_ms.length >= 5;
    let isEnough = false;
    const looks = setInterval(() => {
      isEnough = enough() || Date.now() > give_up_at;
    }, 500);
    await load(sluice, mix('/light', '/heavy'), users, () => isEnough);
    clearInterval(looks);
    assert.ok(enough(), 'some of those that share the worker are measured, and the others are not guessed');
    for (const [target, one_ms] of Object.entries(alone_ms)) {
      const { known_ms } = costsOf(sluice, target, from);
      const own_ms = mean(known_ms);
      const what = `${target}: ${own_ms} ms of ${users} at once (${known_ms.length} known), ${one_ms} ms alone`;
      assert.ok(Math.abs(own_ms - one_ms) <= 0.25 * one_ms + 1, what);
    }
  }
  // Told once a window has ended.
  const metrics = await eventually(
    async () => {
      const text = await (await fetch(`${sluice.admin}/metrics`)).text();
      return text.includes('sluice_worker_gc_ratio{') ? text : undefined;
    },
    { what: 'the ratios of a window', deadlineMs: 20_000, pauseMs: 200 },
  );
  const ratio = (name: string) => Number(new RegExp(`^${name}{place="0"} (\\S+)$`, 'm').exec(metrics)?.[1]);
  assert.ok(ratio('sluice_worker_unattributed_cpu_ratio') < 0.2, metrics);
  assert.ok(ratio('sluice_worker_gc_ratio') < 0.5, metrics);
  const { stdout } = await sluice.cli(['classes', '--json']);
  const { classes } = JSON.parse(stdout) as { classes: { class: string; cost_mean_ms: number }[] };
  const costs = new Map(classes.map((known) => [known.class, known.cost_mean_ms]));
  const [light, heavy] = [costs.get('GET /light') ?? 0, costs.get('GET /heavy') ?? 0];
  assert.ok(light > 2 && light < 8 && heavy > 50 && heavy < 90, `${light} and ${heavy} ms`);
});

void test('of an app that loses every context, only requests that were alone are known', async (t) => {
  const sluice = await running(t, { entry, workers: 1, env });
  const [light, heavy] = ['/light?via=callback', '/heavy?via=callback'];
  const alone_ms = await alone(sluice, light, 20);
  const from = sluice.logs.length;
  const until = Date.now() + 6_000;
  await load(sluice, mix(light, heavy), CONCURRENCY, () => Date.now() > until);
  const { known_ms, unknown } = costsOf(sluice, light, from);
  assert.ok(unknown > 0);
  // Before the worker has seen that contexts are lost, a few may be told.
  assert.ok(known_ms.length < unknown / 10, `${known_ms.length} known, ${unknown} not; ${alone_ms} ms alone`);
});

void test('strict mode knows the cost of every request', async (t) => {
  const strict = { SLUICE_WORKERS_CONCURRENCY: '1', SLUICE_WORKERS_LANES: 'off' };
  const sluice = await running(t, { entry, workers: 1, env: strict });
  let asked = 0;
  await load(sluice, mix('/light', '/heavy'), 8, () => asked++ >= 80);
  await eventually(
    () => costsOf(sluice, '/light').known_ms.length + costsOf(sluice, '/heavy').known_ms.length >= 80,
    {
      deadlineMs: 15_000,
      what: 'all access lines',
    },
  );
  assert.equal(costsOf(sluice, '/light').unknown + costsOf(sluice, '/heavy').unknown, 0);
  assert.ok(mean(costsOf(sluice, '/light').known_ms) < 8);
});
