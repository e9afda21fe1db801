// The dashboard is told what changed since the latest version of the app came, with how sure that is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Costs, DeploySnapshot } from '../../packages/dashboard/src/snapshot.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

/** The comparison that a dashboard which opens now gets. */
async function deployed(sluice: Sluice): Promise<DeploySnapshot | null> {
  const answer = await fetch(`${sluice.admin}/events`);
  assert.equal(answer.status, 200);
  let text = '';
  for await (const piece of answer.body ?? []) {
    text += Buffer.from(piece).toString();
    const costs = /event: costs\ndata: (.*)\n\n/.exec(text);
    if (costs === null) continue;
    // The end of the loop cancels the stream.
    return (JSON.parse(costs[1] ?? '') as Costs).deploy;
  }
  return assert.fail(`no costs in ${text}`);
}

async function serve(sluice: Sluice, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1)
    for (const target of ['/search', '/']) assert.equal((await ask(sluice, target)).status, 200);
}

void test('a version whose search costs four times as much is named with its class', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-deploy-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'cost');
  fs.writeFileSync(file, '3');
  const sluice = await running(t, { entry: ownApp('dearer.cjs'), workers: 1, env: { COST_FILE: file } });
  await serve(sluice, 120);
  assert.equal(await deployed(sluice), null, 'one version has served');

  fs.writeFileSync(file, '12');
  const reload = await sluice.cli(['reload']);
  assert.equal(reload.code, 0, reload.stderr);
  await serve(sluice, 120);
  const deploy = await eventually(
    async () => {
      const found = await deployed(sluice);
      return found !== null && found.classes.length > 0 ? found : undefined;
    },
    { deadlineMs: 40_000, pauseMs: 1000, what: 'classes that changed' },
  );
  assert.deepEqual([deploy.generation, deploy.before], [2, 1]);
  const verdicts = new Map(deploy.findings.map(({ measure, verdict }) => [measure, verdict]));
  // Time by the clock is as noisy as the machine.
  assert.equal(verdicts.get('CPU time'), 'worse');
  assert.notEqual(verdicts.get('failures'), 'worse');
  const worse = deploy.classes.filter(({ finding }) => finding.verdict === 'worse');
  assert.deepEqual([...new Set(worse.map(({ class: name }) => name))], ['GET /search']);
  const cpu = worse.find(({ finding }) => finding.measure === 'CPU time');
  assert.ok(
    cpu !== undefined && cpu.after_ms > 2 * cpu.before_ms && cpu.finding.sure > 0.9,
    JSON.stringify(cpu),
  );
});
