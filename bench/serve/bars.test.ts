import assert from 'node:assert/strict';
import test from 'node:test';
import { type Run, bars } from './bars.ts';

function run(changes: Partial<Run> & { answers?: number }): Run {
  const { answers = 1_000, ...rest } = changes;
  const load = {
    ok: answers,
    failed: 0,
    refused: 0,
    elapsed_s: 1,
    latency_ms: { count: 0 },
    stale_retries: 0,
  };
  const costs = { frontCpuS: 1, workersCpuS: [1], cpuS: 2 };
  return { app: 'trivial', concurrency: 8, server: 'Sluice', round: 0, load, ...costs, ...rest };
}

const said = (runs: Run[]): [string, boolean][] => bars(runs).map(({ bar, met }) => [bar, met]);

test('a front is held against both ways to run HAProxy, by the median of the rounds', () => {
  const round = (at: number, own: number) => [
    run({ round: at, frontCpuS: own }),
    run({ round: at, server: 'HAProxy', frontCpuS: 1 }),
    run({ round: at, server: 'HAProxy leastconn', frontCpuS: 0.5 }),
  ];
  assert.deepEqual(said([...round(0, 1), ...round(1, 1.04), ...round(2, 9)]), [
    ['≥ 0.95× HAProxy', true],
    ['≥ 0.95× HAProxy leastconn', false],
    ['0', true],
  ]);
});

test('throughput is compared with 32 clients, and the whole stack with Express alone', () => {
  const runs = [
    run({ concurrency: 32, answers: 990 }),
    run({ concurrency: 32, server: 'HAProxy', frontCpuS: 2 }),
    run({ app: 'suggest', cpuS: 2.4 }),
    run({ app: 'suggest', server: 'Express alone', cpuS: 2 }),
  ];
  assert.deepEqual(said(runs), [
    ['≥ 1.00× HAProxy', true],
    ['≥ 1.00× HAProxy', false],
    ['≥ 0.85× Express alone', false],
    ['0', true],
  ]);
});

test('a route that answers at once is held against node:cluster, by CPU time and by the wait of one client', () => {
  const cluster = { app: 'items', server: 'node:cluster' };
  const own = run({ app: 'items', cpuS: 2.4, answers: 900 });
  const alone = {
    ...run({ app: 'items', concurrency: 1 }),
    load: { ...own.load, latency_ms: { count: 9, p50: 0.3 } },
  };
  const other = { ...alone, ...cluster, load: { ...own.load, latency_ms: { count: 9, p50: 0.25 } } };
  assert.deepEqual(said([own, run({ ...cluster, cpuS: 2 }), alone, other]), [
    ['≤ 1.25× node:cluster', false],
    ['≥ 0.85× node:cluster', true],
    ['≤ 1.50× node:cluster', true],
    ['0', true],
  ]);
});

test('one refused request of a strict Sluice is a failure', () => {
  const all = run({ server: 'Sluice, strict' });
  assert.deepEqual(said([{ ...all, load: { ...all.load, refused: 1 } }]), [['0', false]]);
});
