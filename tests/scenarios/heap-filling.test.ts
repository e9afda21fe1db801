// One request that fills the heap of its worker: where it ran is told, and a worker that survives is as before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, assertRefused, ownApp, running, statusWhen, underWay } from './scenario.ts';
import { logged } from './stuck.ts';

const entry = ownApp('fills.cjs');
const config = '[app]\nnode_args = ["--max-old-space-size=200"]\n[workers]\nstuck_after_ms = 60000\n';
/** No stand-in takes the CPU meanwhile. */
const env = bounds({ overdue_after_ms: 0 });
const PLACE = /^\S+ \(\S*fills\.cjs:\d+:\d+\)$/;

/** The gateway has to know the memory before it can see it grow. */
async function reported(sluice: Sluice): Promise<void> {
  await statusWhen(
    sluice,
    ({ workers }) => typeof workers[0]?.rss_bytes === 'number',
    'a first report of memory',
  );
}

const skip = process.platform !== 'linux' && 'memory of a silent worker is read in /proc';

void test(
  'a heap that one request fills is told with file and line, and with what had been sampled',
  { skip },
  async (t) => {
    const sluice = await running(t, { entry, workers: 1, config, env });
    await reported(sluice);
    const { first: heap } = await underWay(sluice, 1, ['heap', '--seconds', '50']);
    // The worker reads the wish and loads what does it.
    for (let count = 0; count < 20; count += 1) await ask(sluice, '/inspector');
    assertRefused(await ask(sluice, '/fill', { method: 'POST', deadlineMs: 60_000 }), 502, 'SLU-WORKER-DIED');
    const exit = await logged(sluice, 'worker_exited');
    assert.equal(exit['reason'], 'out_of_memory');
    assert.match(String(exit['place']), PLACE);
    assert.match(
      String(exit['status']),
      /It was mostly free, and work after that report filled it, so a leak is unlikely/,
    );
    assert.equal(exit['target'], '/fill');
    const [crash] = (await sluice.status()).crashes;
    assert.equal(crash?.place, exit['place']);
    const { stdout } = await sluice.cli(['status']);
    assert.match(stdout.replaceAll(/\s+/g, ' '), /, in \S+ \(\S*fills\.cjs:\d+:\d+\); POST \/fill/);
    const { code, stdout: sampled, stderr } = await heap;
    assert.equal(code, 0, stderr);
    assert.match(sampled, /^worker 1 exited before its profile was complete: these are its samples/);
    assert.match(sampled, /^grow .*fills\.cjs:\d+$/m);
  },
);

void test('nobody else learns how to use the inspector while it is open', { skip }, async (t) => {
  const sluice = await running(t, { entry, workers: 1, config, env });
  await reported(sluice);
  const { status, body } = await ask(sluice, '/list', { deadlineMs: 60_000 });
  assert.deepEqual([status, body.toString().trim()], [200, 'listed']);
});

void test(
  'a worker that survives the look closes its inspector, and the log has nothing of it',
  { skip },
  async (t) => {
    const sluice = await running(t, { entry, workers: 1, config, env });
    await reported(sluice);
    assert.equal((await ask(sluice, '/grow', { deadlineMs: 60_000 })).body?.toString(), 'open');
    await eventually(async () => (await ask(sluice, '/inspector')).body?.toString() === 'closed', {
      what: 'a closed inspector',
    });
    const status = await sluice.status();
    assert.deepEqual(
      [status.workers.map(({ id }) => id), status.crashes],
      [[1], []],
      'it is neither replaced nor told',
    );
    const said = sluice.logs.filter(({ line }) => /[Dd]ebugger|inspector/.test(String(line)));
    assert.deepEqual(said, []);
  },
);
