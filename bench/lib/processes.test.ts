import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import test from 'node:test';
import { affinityOf, checkPinned, cpusOf, onCpus, pinsFor, unpinned } from './pin.ts';
import { cpuMeterOf } from './processes.ts';

test('the CPU time of a process that has gone meanwhile counts', async () => {
  const used = await cpuMeterOf(async () => [process.pid]);
  const program = 'const { cpuUsage } = process; while (cpuUsage().user < 300_000);';
  spawnSync(process.execPath, ['-e', program]);
  assert.ok((await used()) >= 0.29);
});

test('CPUs are read as the kernel lists them', () => {
  assert.deepEqual(cpusOf('0-2,5,8-9'), [0, 1, 2, 5, 8, 9]);
  assert.deepEqual(cpusOf(''), []);
  assert.equal(affinityOf(process.pid).length, os.availableParallelism());
});

test(
  'servers are confined to their CPUs, and this process goes on with the others',
  { skip: os.availableParallelism() < 2 && 'needs two CPUs' },
  async () => {
    const pins = pinsFor(1);
    const seen = await onCpus(pins, async () => {
      const { stdout } = spawnSync('grep', ['Cpus_allowed_list', '/proc/self/status'], { encoding: 'utf8' });
      checkPinned([process.pid], pins, 'this one');
      return cpusOf(stdout.split(':')[1]?.trim() ?? '');
    });
    assert.deepEqual(seen, pins.servers);
    assert.deepEqual(affinityOf(process.pid), pins.generator);
    assert.throws(() => {
      checkPinned([process.pid], pins, 'this one');
    }, /this one/);
    assert.throws(() => pinsFor(os.availableParallelism() + 1), /one more for the load generator/);
    await onCpus(unpinned, async () => undefined);
    assert.deepEqual(affinityOf(process.pid), unpinned.generator);
  },
);
