import assert from 'node:assert/strict';
import test from 'node:test';
import type { Sample } from '../lib/load.ts';
import { longTail, mean, overload, shortTail } from './bars.ts';
import { cellsOf } from './cells.ts';
import type { Measured, Run } from './measure.ts';
import { LONG, SHORT } from './mixes.ts';

const COSTS = { ms: { [SHORT]: 5, [LONG]: 100 }, work_per_s: 2 };

function measured(...runs: Partial<Run>[]): Measured {
  const run = {
    percent: 72,
    server: 'sluice',
    round: 0,
    from_ms: 0,
    to_ms: 1_000,
    samples: {},
    late_p99_ms: 0,
    generator_cpu: 0,
    cpu_s: 0,
    answers: 0,
  };
  const all = runs.map((each) => ({ ...run, ...each }));
  return { costs: COSTS, runs: all, throughput: {}, sizes: {}, alarms: {} };
}

/** One a millisecond, all answered after `took_ms`. */
const answered = (count: number, took_ms: number): Sample[] =>
  Array.from({ length: count }, (_, at) => [at * 1_000, took_ms * 1_000, 200, null]);

test('percentiles are those of all rounds together, not means of each', () => {
  const [cell] = cellsOf(
    measured(
      { samples: { [SHORT]: answered(90, 10) } },
      { round: 1, samples: { [SHORT]: answered(10, 500) } },
    ),
  );
  assert.deepEqual([cell?.sent, cell?.p50, cell?.p95, cell?.max], [100, 10, 500, 500]);
  assert.equal(cell?.slowdown, (90 * 2 + 10 * 100) / 100);
});

test('the first requests of a class are left out of each run by when they were meant to be sent', () => {
  const late: Sample = [900_000, 20_000, 200, null];
  const early: Sample = [100, 400_000, 200, null];
  const [cell] = cellsOf(measured({ samples: { [SHORT]: [late, early] } }), 1);
  assert.deepEqual([cell?.sent, cell?.max], [1, 20]);
});

test('what was refused or failed, or answered too late, is no goodput', () => {
  const samples: Sample[] = [
    [0, 100_000, 200, 40_000],
    [0, 1_500_000, 200, null],
    [0, 1_000, 503, null],
    [0, 1_000, 0, null],
  ];
  const [cell] = cellsOf(measured({ samples: { [LONG]: samples } }));
  assert.deepEqual([cell?.ok, cell?.refused, cell?.failed], [2, 1, 1]);
  assert.deepEqual([cell?.per_s, cell?.work_per_s, cell?.queued_p99], [1, 0.1, 40]);
});

test('bars compare with the better peer and are missed where Sluice is not good enough', () => {
  const both = (short_ms: number, long_ms: number) => ({
    [SHORT]: answered(90, short_ms),
    [LONG]: answered(10, long_ms),
  });
  const cells = cellsOf(
    measured(
      { samples: both(41, 600) },
      { server: 'nginx-haproxy', samples: both(420, 500) },
      { server: 'passenger', samples: both(400, 400) },
    ),
  );
  const all = [shortTail, longTail, mean].flatMap((judge) => judge(cells, measured()));
  assert.deepEqual(
    all.map(({ met }) => met),
    [true, false, false, true, true],
  );
  assert.deepEqual(overload(cells, measured()), [], 'no run at ×2, no bar');
});
