import assert from 'node:assert/strict';
import test from 'node:test';
import { longUnknown, nextWaiting, oneCore, waiting } from './bars-waiting.ts';
import { io, mean, shortTail } from './bars.ts';
import { ALL, type Cell } from './cells.ts';
import type { Measured } from './measure.ts';
import { HEAVY, LIGHT, LONG, SHORT } from './mixes.ts';

const NOTHING: Measured = {
  costs: { ms: {}, work_per_s: 2 },
  runs: [],
  throughput: {},
  sizes: {},
  alarms: {},
};

/** A class whose figures are all equal. */
function cell(percent: number, server: string, name: string, ms: number): Cell {
  const counts = { sent: 100, ok: 100, refused: 0, failed: 0, per_s: 1, work_per_s: 1, slowdown: 1 };
  const times = { p50: ms, p95: ms, p99: ms, max: ms, mean: ms, queued_p50: 0, queued_p99: 0 };
  return { percent, server, class: name, ...counts, ...times };
}

function server(percent: number, name: string, light: number, heavy: number, mean: number): Cell[] {
  return [
    cell(percent, name, LIGHT, light),
    cell(percent, name, HEAVY, heavy),
    cell(percent, name, ALL, mean),
  ];
}

test('the waiting mix is held against the best balancer, the best peer, and by no means against what is done by hand', () => {
  const at = (percent: number, light: number, heavy: number) => [
    ...server(percent, 'sluice', light, heavy, 60),
    ...server(percent, 'cluster', 240, 320, 92),
    ...server(percent, 'nginx', 200, 400, 95),
    ...server(percent, 'watt', 100, 300, 70),
    ...server(percent, 'by-hand', 10, 10, 10),
  ];
  const cells = [...at(52, 50, 420), ...at(72, 51, 421)];
  const throughput = { sluice: [96, 98], cluster: [100] };
  const bars = waiting(cells, { ...NOTHING, throughput });
  assert.deepEqual(
    bars.map(({ bar, met }) => [bar, met]),
    [
      ['≤ 1/4 of nginx least_conn', true],
      ['≤ 1.40× Watt', true],
      ['better than every peer', true],
      ['≤ 1/4 of nginx least_conn', false],
      ['≤ 1.40× Watt', false],
      ['better than every peer', true],
      ['≥ 97 % of node:cluster', true],
    ],
  );
});

test('a bar whose servers were left out is not said, neither met nor missed', () => {
  const cells = server(52, 'sluice', 1, 1, 1);
  assert.deepEqual(waiting(cells, NOTHING), []);
  assert.deepEqual(nextWaiting(server(100, 'sluice', 1, 1, 1), NOTHING), []);
  assert.deepEqual(oneCore([cell(72, 'node', SHORT, 900)], NOTHING), []);
});

test('the Next.js app has a third of the latency of node:cluster, one core a twentieth of that of Node', () => {
  const next = nextWaiting(
    [...server(100, 'sluice', 109, 500, 80), ...server(100, 'cluster', 330, 351, 90)],
    NOTHING,
  );
  assert.deepEqual(
    next.map(({ bar, met }) => [bar, met]),
    [
      ['≤ 1/3 of node:cluster', true],
      ['≤ 1.40× node:cluster', false],
      ['better than every peer', true],
    ],
  );
  const [one] = oneCore([cell(72, 'sluice', SHORT, 49), cell(72, 'node', SHORT, 966)], NOTHING);
  assert.deepEqual([one?.bar, one?.met], ['≤ 1/20 of Node alone', false]);
});

test('unknown classes are held against nginx + HAProxy, whatever Passenger does', () => {
  const cells = [
    cell(72, 'sluice', LONG, 140),
    cell(72, 'nginx-haproxy', LONG, 100),
    cell(72, 'passenger', LONG, 1),
  ];
  assert.deepEqual(
    longUnknown(cells, NOTHING).map(({ bar, met }) => [bar, met]),
    [
      ['≤ 1.40× nginx + HAProxy', true],
      ['≤ 1.50× nginx + HAProxy', true],
    ],
  );
});

test('Sluice as it is installed is what the bars are about, not one that was told to be strict', () => {
  const strict = [cell(72, 'sluice-strict', SHORT, 1), cell(72, 'nginx-haproxy', SHORT, 100)];
  assert.deepEqual([...shortTail(strict, NOTHING), ...mean(strict, NOTHING)], []);
  const both = [cell(72, 'sluice', 'quote', 110), cell(72, 'sluice-strict', 'quote', 100)];
  const [bar] = io(both, NOTHING);
  assert.deepEqual([bar?.bar, bar?.met], ['≤ 1.10× strict', true]);
});
