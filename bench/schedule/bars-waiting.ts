// The bars where requests wait for somebody else before they compute, and where there is one core. Sluice is measured as it is
// installed.
import { type Bar, median, percent as share, short } from '../lib/report.ts';
import { type Judge, atMost, cell, meanAt, nameOf } from './bars.ts';
import type { Cell } from './cells.ts';
import { HEAVY, LIGHT, LONG, SHORT } from './mixes.ts';

/** Balancers between which a user would choose, without knowing what requests cost. */
const BALANCERS = ['cluster', 'nginx', 'haproxy'];
const PEERS = [...BALANCERS, 'pm2', 'watt'];
const MIX_LOADS = [52, 72];
const OF_ITS_RATE = 100;

export const waiting: Judge = (cells, measured) => [
  ...MIX_LOADS.flatMap((percent) => [
    ...againstBest(cells, percent, LIGHT, 'p99', 0.25, BALANCERS),
    ...againstBest(cells, percent, HEAVY, 'p95', 1.4, PEERS),
    ...meanAt(percent)(cells, measured),
  ]),
  ...throughput(measured.throughput),
];

export const nextWaiting: Judge = (cells, measured) => [
  ...againstBest(cells, OF_ITS_RATE, LIGHT, 'p99', 1 / 3, ['cluster']),
  ...againstBest(cells, OF_ITS_RATE, HEAVY, 'p95', 1.4, ['cluster']),
  ...meanAt(OF_ITS_RATE)(cells, measured),
];

export const oneCore: Judge = (cells) => againstBest(cells, 72, SHORT, 'p99', 0.05, ['node']);

/** Long requests while no class is known yet; the best peer is named, as it is the one that gives no class a lane. */
export const longUnknown: Judge = (cells) => [
  ...againstBest(cells, 72, LONG, 'p95', 1.4, ['nginx-haproxy']),
  ...againstBest(cells, 72, LONG, 'p99', 1.5, ['nginx-haproxy']),
];

/** Compares with the peer that is best in this figure. */
function againstBest(
  cells: Cell[],
  percent: number,
  name: string,
  at: 'p95' | 'p99',
  factor: number,
  peers: string[],
): Bar[] {
  const own = cell(cells, percent, 'sluice', name);
  const others = peers.flatMap((peer) => cell(cells, percent, peer, name) ?? []);
  const [first] = others;
  if (own === undefined || first === undefined) return [];
  const best = others.reduce((a, b) => (b[at] < a[at] ? b : a), first);
  return [atMost(`${name}, ${at} at ${percent} %`, own, best, at, factor, nameOf(best.server))];
}

function throughput(all: Record<string, number[]>): Bar[] {
  const [own, peer] = [median(all['sluice'] ?? []), median(all['cluster'] ?? [])];
  if (!Number.isFinite(own / peer)) return [];
  return [
    {
      what: 'throughput in a closed loop',
      bar: `≥ 97 % of ${nameOf('cluster')}`,
      figure: `${short(own)} / ${short(peer)} = ${share(own / peer)}`,
      met: own / peer >= 0.97,
    },
  ];
}
