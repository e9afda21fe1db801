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

/** Compared figure, in answers a second of something. */
type Figure = (run: Run) => number;

const perFrontCpuSecond: Figure = ({ load, frontCpuS }) => load.ok / frontCpuS;
const perCpuSecond: Figure = ({ load, cpuS }) => load.ok / cpuS;
const perSecond: Figure = ({ load }) => load.ok / load.elapsed_s;

const OWN = 'Sluice';
/** HAProxy with one request for each process, as in strict mode, and with any number. */
const HAPROXIES = ['HAProxy', 'HAProxy leastconn'];

export function bars(runs: Run[]): Bar[] {
  const ratio = (what: string, [app, clients]: [string, number], figure: Figure, peer: string, min: number) =>
    ratioBar(what, runs, app, clients, figure, peer, min);
  const fronts: [number, string, number][] = [8, 32].flatMap((clients) => [
    [clients, 'nginx + HAProxy', 1],
    ...HAPROXIES.map((name): [number, string, number] => [clients, name, 0.95]),
  ]);
  return [
    ...fronts.flatMap(([clients, peer, min]) =>
      ratio('requests per CPU second of the front', ['trivial', clients], perFrontCpuSecond, peer, min),
    ),
    ...HAPROXIES.flatMap((peer) =>
      ratio('throughput, front and workers on two CPUs', ['trivial', 32], perSecond, peer, 1),
    ),
    ...ratio('requests per CPU second of everything', ['suggest', 8], perCpuSecond, 'Express alone', 0.85),
    ...failures(runs),
  ];
}

/** The median of the rounds' ratios; nothing where one of the two was left out. */
function ratioBar(
  what: string,
  runs: Run[],
  app: string,
  clients: number,
  figure: Figure,
  peer: string,
  min: number,
): Bar[] {
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
      bar: `≥ ${short(min)}× ${peer}`,
      figure: `${own} / ${other}; median of the ratios ${ratio.toFixed(2)}`,
      met: ratio >= min,
    },
  ];
}

function failures(runs: Run[]): Bar[] {
  const own = runs.filter(({ server }) => server.startsWith(OWN));
  if (own.length === 0) return [];
  const failed = sum(own.map(({ load }) => load.failed + load.refused));
  return [{ what: 'failed requests through Sluice', bar: '0', figure: String(failed), met: failed === 0 }];
}
