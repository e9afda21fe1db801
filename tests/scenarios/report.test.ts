// `sluice report`: what requests took before and after a deploy.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

interface Spent {
  class: string;
  requests: number;
  cpu_s_per_1000: number | null;
  memory_gb_s_per_1000: number;
  parts?: [number, number][];
}
interface Side {
  generations: number[];
  all: Spent;
  classes: Spent[];
}
interface Report {
  before: Side | null;
  after: Side | null;
}

function costs(t: TestContext): { file: string; set: (ms: number) => void } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-report-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'cost');
  return { file, set: (ms) => fs.writeFileSync(file, String(ms)) };
}

async function serve(sluice: Sluice, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    for (const target of ['/search', '/']) assert.equal((await ask(sluice, target)).status, 200);
  }
}

async function report(sluice: Sluice, ...args: string[]): Promise<Report> {
  const { code, stdout, stderr } = await sluice.cli(['report', '--json', ...args]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Report;
}

const cpuOf = (side: Side | null, name: string): number =>
  side?.classes.find((spent) => spent.class === name)?.cpu_s_per_1000 ?? assert.fail(`no ${name}`);

void test('a version whose search costs three times the CPU time is told with the class and the factor', async (t) => {
  const cost = costs(t);
  cost.set(4);
  const sluice = await running(t, { entry: ownApp('dearer.cjs'), workers: 1, env: { COST_FILE: cost.file } });
  const none = await sluice.cli(['report']);
  assert.deepEqual([none.code, none.stdout], [0, 'No request has ended since then.\n']);

  await serve(sluice, 150);
  const first = await sluice.cli(['report']);
  assert.match(first.stdout, /^Before: no history\..*--against FILE/);
  const saved = path.join(path.dirname(cost.file), 'before.json');
  fs.writeFileSync(saved, JSON.stringify(await report(sluice)));

  cost.set(12);
  const reload = await sluice.cli(['reload']);
  assert.equal(reload.code, 0, reload.stderr);
  const few = await sluice.cli(['report', '--since', 'generation:2', '--budget', '10']);
  assert.equal(few.code, 1, few.stdout);

  await serve(sluice, 150);
  const { before, after } = await report(sluice);
  assert.deepEqual([before?.generations, after?.generations], [[1], [2]]);
  const factor = (name: string): number => cpuOf(after, name) / cpuOf(before, name);
  const [search, home] = [factor('GET /search'), factor('GET /')];
  assert.ok(search > 2 && search < 4, `search ${search}`);
  assert.ok(home > 0.5 && home < 2, `home ${home}`);
  assert.ok((after?.all.memory_gb_s_per_1000 ?? 0) > 0);

  const { stdout } = await sluice.cli(['report']);
  assert.match(stdout, /^Before: generation 1, 300 requests in /);
  assert.match(
    stdout,
    /\nRequests are dearer: .*: \+[\d.]+ % \(\+[\d.]+ to \+[\d.]+\), 9\d\.\d+ % sure; most by GET \/search\. The classes that both sides have take \d+ % of the CPU time before and \d+ % after\.\n$/,
  );
  for (const args of [[], ['--against', saved]]) {
    const over = await sluice.cli(['report', ...args, '--budget', '50']);
    assert.equal(over.code, 1, over.stdout);
    assert.match(over.stdout, /Requests are dearer/);
    assert.match(over.stderr, /9\d\.\d+ % certainty above the budget of 50 %/);
    assert.equal((await sluice.cli(['report', ...args, '--budget', '100000'])).code, 0);
  }

  const old = JSON.parse(fs.readFileSync(saved, 'utf8')) as Report;
  for (const spent of old.after?.classes ?? []) delete spent.parts;
  fs.writeFileSync(saved, JSON.stringify(old));
  const unsure = await sluice.cli(['report', '--against', saved, '--budget', '100000']);
  assert.equal(unsure.code, 1);
  assert.match(unsure.stderr, /with unknown certainty/);

  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /\nsluice_class_cpu_seconds_total\{class="GET \/search"\} [\d.]+\n/);
});

void test('what cannot be compared is said, with what to do', async (t) => {
  const cost = costs(t);
  cost.set(1);
  const sluice = await running(t, { entry: ownApp('dearer.cjs'), workers: 1, env: { COST_FILE: cost.file } });
  const when = await sluice.cli(['report', '--since', 'yesterday']);
  assert.equal(when.code, 2);
  assert.match(when.stderr, /such as 30m/);
  const missing = await sluice.cli(['report', '--against', `${cost.file}.none`]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /No such file/);
  const other = await sluice.cli(['report', '--against', cost.file]);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /is not output of `sluice report --json`/);
  await serve(sluice, 5);
  // The worker tells of the last requests a little later.
  await eventually(
    async () => {
      const { before, after } = await report(sluice, '--since', '1h');
      return before === null && after?.all.requests === 10;
    },
    { what: 'all requests after, and none before' },
  );
});
