// What requests cost is learned by class, shown, and kept for the next gateway.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running, STRICT } from './scenario.ts';

interface Class {
  class: string;
  requests: number;
  expected_ms: number;
  cost_mean_ms: number | null;
  cpu_share: number;
  known: boolean;
  long: boolean;
  split_from?: string;
}

interface Classes {
  cut_ms: number | null;
  classes: Class[];
}

async function classesOf(sluice: Sluice): Promise<Classes> {
  const { code, stdout, stderr } = await sluice.cli(['classes', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Classes;
}

const named = ({ classes }: Classes, name: string): Class | undefined =>
  classes.find((known) => known.class === name);

/** Asks for the targets in turn, so many times each. */
async function askAll(sluice: Sluice, targets: readonly string[], times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    await Promise.all(targets.map((target) => ask(sluice, target)));
  }
}

/** Asks on until the classes are as they should be. */
async function learned(
  sluice: Sluice,
  targets: readonly string[],
  is: (now: Classes) => boolean,
  what: string,
): Promise<Classes> {
  await eventually(
    async () => {
      await askAll(sluice, targets, 20);
      return is(await classesOf(sluice));
    },
    { deadlineMs: 60_000, what },
  );
  return classesOf(sluice);
}

/** A run directory that outlives its gateways. */
function runDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-r-'));
  fs.chmodSync(dir, 0o700);
  t.after(() => {
    // A gateway may still write its costs into it.
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  });
  return dir;
}

void test('classes get known by the CPU time that workers report, and the long ones are cut off', async (t) => {
  const sluice = await running(t, { entry: ownApp('costly.js'), flags: STRICT });
  const targets = ['/short', '/short?x=1', '/items/1', '/items/2', '/long'];
  const now = await learned(sluice, targets, (now) => now.cut_ms !== null, 'a cut');
  const [short, items, long] = ['GET /short', 'GET /items/:id', 'GET /long'].map((name) => named(now, name));
  assert.ok(short?.known && items?.known && long?.known);
  assert.deepEqual([short.long, items.long, long.long], [false, false, true]);
  assert.ok(long.expected_ms > 40 && long.expected_ms < 240, `${long.expected_ms} ms`);
  assert.ok(short.expected_ms > 1 && short.expected_ms < long.expected_ms / 4, `${short.expected_ms} ms`);
  assert.ok(long.cpu_share > 0.5 && short.requests >= 40);
  const { stdout } = await sluice.cli(['classes']);
  assert.match(stdout, /Long requests cost .*\n\nCLASS +REQUESTS/);
  assert.match(stdout, /^GET \/long .* long *$/m);

  await eventually(
    async () => {
      await askAll(sluice, targets, 4);
      return (await sluice.status()).workers.some(({ lane }) => lane === 'long');
    },
    { deadlineMs: 30_000, what: 'a worker for long requests' },
  );
  assert.match((await sluice.cli(['status'])).stdout, /^ +ID STATE .* LANE .*\n +\d+ .* short$/m);
  assert.ok(sluice.logs.some(({ event, lane }) => event === 'worker_started' && lane === 'long'));
});

void test('no report is lost while a worker renders for more than a second', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('costly.js'),
    workers: 1,
    config: '[queue]\nwait_ms_max = 60000\n',
    env: bounds({ overdue_after_ms: 0 }),
  });
  const renders = Array.from({ length: 3 }, () => ask(sluice, '/render', { deadlineMs: 60_000 }));
  await Promise.all(renders);
  const lines = () => sluice.logs.filter(({ event, target }) => event === 'access' && target === '/render');
  await eventually(() => lines().length === renders.length, { deadlineMs: 10_000, what: 'all access lines' });
  const costs_ms = lines().map(({ cpu_ms }) => cpu_ms);
  assert.ok(
    costs_ms.every((cost_ms) => Number(cost_ms) >= 1_200),
    JSON.stringify(costs_ms),
  );
});

void test('a class whose cost spreads is split by the query that explains it', async (t) => {
  const sluice = await running(t, { entry: ownApp('costly.js') });
  const targets = ['/list', '/list?page=2', '/list?page=3', '/list?page=1&facets=all'];
  const isSplit = (now: Classes) => now.classes.some(({ split_from }) => split_from === 'GET /list');
  const now = await learned(sluice, targets, isSplit, 'a split');
  const part = named(now, 'GET /list ?facets');
  assert.ok(part !== undefined && part.expected_ms > 20, JSON.stringify(now.classes));
});

void test('routes of the config name classes, also from a reload on', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('costly.js'),
    config: '[classes.routes]\n"/items/:id" = "class=item priority=1"\n',
  });
  await askAll(sluice, ['/items/oak', '/items/elm'], 2);
  assert.equal(named(await classesOf(sluice), 'item')?.requests, 4);
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), '[classes.routes]\n"/items/oak" = "class=oak"\n');
  assert.equal((await sluice.cli(['reload'])).code, 0);
  await askAll(sluice, ['/items/oak'], 3);
  const now = await classesOf(sluice);
  assert.deepEqual([named(now, 'item'), named(now, 'oak')?.requests], [undefined, 3]);
});

void test('what was learned outlives a reload, a restart and an upgrade', async (t) => {
  const options = { entry: ownApp('costly.js'), runDir: runDir(t), workers: 1 };
  const first = await running(t, options);
  await learned(first, ['/long'], (now) => named(now, 'GET /long')?.known === true, 'a known class');
  assert.equal((await first.cli(['reload'])).code, 0);
  assert.equal(named(await classesOf(first), 'GET /long')?.known, true);
  assert.equal((await first.cli(['upgrade'])).code, 0);
  await ask(first, '/long');
  assert.equal(named(await classesOf(first), 'GET /long')?.known, true);
  assert.equal((await first.cli(['stop'])).code, 0);
  await first.finished();

  const second = await running(t, options);
  await ask(second, '/long');
  const long = named(await classesOf(second), 'GET /long');
  assert.ok(long?.known === true && long.requests === 1, JSON.stringify(long));
  assert.equal((await second.cli(['stop'])).code, 0);
});

void test('I8: an unreadable file of costs is reported once, and costs are learned again', async (t) => {
  const dir = runDir(t);
  fs.writeFileSync(path.join(dir, 'costs.json'), '{"version":1,"cla');
  const sluice = await running(t, { entry: ownApp('costly.js'), runDir: dir, workers: 1 });
  await ask(sluice, '/short');
  const told = sluice.logs.filter(({ text }) => typeof text === 'string' && text.includes('costs.json'));
  assert.deepEqual(
    told.map(({ level }) => level),
    ['warn'],
  );
});

void test('a worker that reports nothing is measured by its service time', async (t) => {
  const script = ownApp('costly.js');
  const sluice = await running(t, {
    command: ['env', '-u', 'NODE_OPTIONS', '-u', 'PORT', process.execPath, script],
    workers: 1,
  });
  await askAll(sluice, ['/long'], 1);
  await eventually(async () => (named(await classesOf(sluice), 'GET /long')?.cost_mean_ms ?? 0) >= 50, {
    deadlineMs: 10_000,
    what: 'the cost of /long',
  });
});
