// A component that costs too much is suspended although each worker that renders it is replaced afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bounds } from '../support/bounds.ts';
import { ask, gone, running } from './scenario.ts';

const app = fileURLToPath(new URL('apps/overruns.mjs', import.meta.url));

void test('counts of renders over their budget outlive the workers that rendered them', async (t) => {
  const env = bounds({ backoff_ms_min: 1, backoff_ms_max: 50 });
  const sluice = await running(t, { entry: app, workers: 1, env });
  const pids = new Set<number>();
  const outcomes: string[] = [];
  for (let page = 0; page < 4; page++) {
    const { body } = await ask(sluice, '/');
    const { pid, outcome } = JSON.parse(body.toString()) as { pid: number; outcome: string };
    pids.add(pid);
    outcomes.push(outcome);
    await gone([pid]);
  }
  assert.equal(pids.size, 4, 'each page has a worker of its own');
  assert.deepEqual(outcomes, ['over-budget', 'over-budget', 'over-budget', 'suspended']);
});
