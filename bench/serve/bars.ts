// The bars of `serve.ts`: what Sluice costs and carries beside what users would pick instead.
import type { LoadResult } from '../lib/load.ts';
import { type Bar, median, short, sum } from '../lib/report.ts';

export interface Run {
  app: string;
  concurrency: number;
  server: string;
  round: number;
  load: Pick<LoadResult, 'ok' | 'failed' | 'refused' | 'elapsed_s' | 'latency_ms' | 'stale_retries'>;
  frontCpuS: number;
  workersCpuS: number[];
  /** CPU seconds of all processes, including those that came or went meanwhile. */
  cpuS: number;
}

/** Compared figure: answers a second of something, or a time. */
type Figure = (run: Run) => number;

/** Least or most that the figure of Sluice may be of the peer's. */
type Bound = { readonly least: number } | { readonly most: number };

interface Comparison {
  readonly what: string;
  readonly app: string;
  readonly clients: number;
  readonly figure: Figure;
  readonly peer: string;
  readonly bound: Bound;
}

const perFrontCpuSecond: Figure = ({ load, frontCpuS }) => load.ok / frontCpuS;
const cpuOfAll_us: Figure = ({ load, cpuS }) => (cpuS * 1e6) / load.ok;
const perCpuSecond: Figure = ({ load, cpuS }) => load.ok / cpuS;
const perSecond: Figure = ({ load }) => load.ok / load.elapsed_s;
const latency =
  (at: 'p50' | 'p99'): Figure =>
  ({ load }) =>
    load.latency_ms[at] ?? Number.NaN;

const OWN = 'Sluice';
/** HAProxy with one request for each process, as in strict mode, and with any number. */
const HAPROXIES = ['HAProxy', 'HAProxy leastconn'];
const CLUSTER = 'node:cluster';

export function bars(runs: Run[]): Bar[] {
  return [...comparisons().flatMap((compared) => ratioBar(runs, compared)), ...failures(runs)];
}

function comparisons(): Comparison[] {
  const front = { what: 'requests per CPU second of the front', app: 'trivial', figure: perFrontCpuSecond };
  const fronts = [8, 32, 128].flatMap((clients) => [
    { ...front, clients, peer: 'nginx + HAProxy', bound: { least: 1 } },
    ...HAPROXIES.map((peer) => ({ ...front, clients, peer, bound: { least: clients > 8 ? 1 : 0.95 } })),
  ]);
  const throughput = HAPROXIES.map((peer) => ({
    what: 'throughput, front and workers on two CPUs',
    app: 'trivial',
    clients: 32,
    figure: perSecond,
    peer,
    bound: { least: 1 },
  }));
  const tail = {
    what: 'p99',
    app: 'trivial',
    clients: 32,
    figure: latency('p99'),
    peer: 'HAProxy leastconn',
    bound: { most: 1.3 },
  };
  const suggest = {
    what: 'requests per CPU second of everything',
    app: 'suggest',
    clients: 8,
    figure: perCpuSecond,
    peer: 'Express alone',
    bound: { least: 0.85 },
  };
  const items = [8, 32].flatMap((clients) => [
    {
      what: 'CPU time of everything',
      app: 'items',
      clients,
      figure: cpuOfAll_us,
      peer: CLUSTER,
      bound: { most: 1.25 },
    },
    { what: 'throughput', app: 'items', clients, figure: perSecond, peer: CLUSTER, bound: { least: 0.85 } },
  ]);
  const alone = {
    what: 'p50',
    app: 'items',
    clients: 1,
    figure: latency('p50'),
    peer: CLUSTER,
    bound: { most: 1.5 },
  };
  return [...fronts, ...throughput, tail, suggest, ...items, alone];
}

/** The median of the rounds' ratios; nothing where one of the two was left out. */
function ratioBar(runs: Run[], { what, app, clients, figure, peer, bound }: Comparison): Bar[] {
  const of = (server: string, round?: number): Run[] =>
    runs.filter(
      (run) =>
        run.app === app &&
        run.concurrency === clients &&
        run.server === server &&
        (round === undefined || run.round === round),
    );
  const ratios = of(OWN).map((own) => figure(own) / median(of(peer, own.round).map(figure)));
  const ratio = median(ratios);
  if (!Number.isFinite(ratio)) return [];
  const [own, other] = [OWN, peer].map((server) => short(median(of(server).map(figure))));
  return [
    {
      what: `${what}, ${app}, ${clients} at once`,
      bar: 'least' in bound ? `≥ ${short(bound.least)}× ${peer}` : `≤ ${short(bound.most)}× ${peer}`,
      figure: `${own} / ${other}; median of the ratios ${ratio.toFixed(2)}`,
      met: 'least' in bound ? ratio >= bound.least : ratio <= bound.most,
    },
  ];
}

function failures(runs: Run[]): Bar[] {
  const own = runs.filter(({ server }) => server.startsWith(OWN));
  if (own.length === 0) return [];
  const failed = sum(own.map(({ load }) => load.failed + load.refused));
  return [{ what: 'failed requests through Sluice', bar: '0', figure: String(failed), met: failed === 0 }];
}
