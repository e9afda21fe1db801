// Requests of light classes: a sample is measured, all are counted, and one that takes long is seen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

const REQUESTS = 800;
const NAME = 'GET /item';

async function measured(sluice: Sluice): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(/^sluice_request_cpu_seconds_count (\d+)$/m.exec(text)?.[1]);
}

const lines = ({ logs }: Sluice) => logs.filter((line) => line['class'] === NAME);

void test('of a light class one request in 16 is measured, and each that takes long', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('light.js'),
    workers: 1,
    // A request that is profiled is not measured.
    // Beside other programs, a request costs more than those that are light elsewhere.
    env: { SLUICE_PROFILE_TAIL: 'off', ...bounds({ light_us: 20_000 }) },
  });
  for (let asked = 0; asked < REQUESTS; asked += 1) await ask(sluice, '/item');
  await eventually(() => lines(sluice).length === REQUESTS);
  const later = lines(sluice).slice(REQUESTS / 4);
  const known = later.filter(({ cpu_ms }) => typeof cpu_ms === 'number').length;
  assert.ok(known > 0 && known < later.length / 3, `${known} of ${later.length} are known`);
  for (const { cpu_ms } of later) assert.ok(cpu_ms === null || Number(cpu_ms) < 5_000);

  // All of them count, wherever CPU time is summed up.
  const { stdout } = await sluice.cli(['classes', '--json']);
  const { classes } = JSON.parse(stdout) as {
    classes: { class: string; requests: number; cost_mean_ms: number }[];
  };
  const found = classes.find((each) => each.class === NAME);
  assert.equal(found?.requests, REQUESTS, stdout);
  const counted = await measured(sluice);
  assert.ok(counted > REQUESTS / 3 && counted < REQUESTS * 2, `${counted} of ${REQUESTS}`);

  // The class may have changed after a long request that was not to be measured, so the next ones are all measured. One in 16 was
  // to be: its class stays light where its mean does, and the next attempt counts.
  await eventually(async () => {
    const before = lines(sluice).length;
    await ask(sluice, '/item?ms=40');
    const long = await eventually(() => lines(sluice)[before]);
    assert.ok(Number(long['cpu_ms']) >= 30, `${String(long['cpu_ms'])} ms`);
    for (let asked = 0; asked < 10; asked += 1) await ask(sluice, '/item');
    const next = await eventually(() => {
      const since = lines(sluice).slice(before + 1);
      return since.length === 10 && since;
    });
    return next.every(({ cpu_ms }) => typeof cpu_ms === 'number');
  });
});
