// The bars. Each takes the cells and says nothing where a server or a load that it needs was left out.
import { type Bar, median, percent as share, short } from '../lib/report.ts';
import { ALL, type Cell } from './cells.ts';
import type { Measured } from './measure.ts';
import { LONG, SHORT, SUGGEST } from './mixes.ts';
import { CONTENDERS } from './servers.ts';

export type Judge = (cells: Cell[], measured: Measured) => Bar[];

/** The load that most bars are said for. */
const USUAL = 72;
/** A p99 of fewer says nothing. */
const REQUESTS_MIN = 30;
const QUEUED_FAIRLY = ['nginx-haproxy', 'passenger'];

const ms = (value: number): string => `${short(value)} ms`;
export const nameOf = (server: string): string => CONTENDERS[server]?.name ?? server;

export function cell(cells: Cell[], percent: number, server: string, name: string): Cell | undefined {
  return cells.find((each) => each.percent === percent && each.server === server && each.class === name);
}

/** Latencies are those of what was answered; a server that refuses much has short ones. */
function unanswered({ server, sent, ok }: Cell): string {
  return ok < sent ? `; ${nameOf(server)} left ${share(1 - ok / sent)} unanswered` : '';
}

export function atMost(
  what: string,
  own: Cell,
  other: Cell,
  at: 'p95' | 'p99',
  factor: number,
  against: string,
): Bar {
  const ratio = own[at] / other[at];
  return {
    what,
    bar: `≤ ${limit(factor)} ${against}`,
    figure: `${ms(own[at])} / ${ms(other[at])} = ${ratio.toFixed(2)}${unanswered(own)}${unanswered(other)}`,
    met: ratio <= factor,
  };
}

/** `1/20`, where that says more than `0.05×`. */
function limit(factor: number): string {
  return factor < 1 ? `1/${Math.round(1 / factor)} of` : `${short(factor)}×`;
}

export const shortTail: Judge = (cells) => {
  const own = cell(cells, USUAL, 'sluice', SHORT);
  return QUEUED_FAIRLY.flatMap((peer) => {
    const other = cell(cells, USUAL, peer, SHORT);
    if (own === undefined || other === undefined) return [];
    return [atMost(`${SHORT} class, p99 at ${USUAL} %`, own, other, 'p99', 0.1, nameOf(peer))];
  });
};

export const longTail: Judge = (cells) => {
  const own = cell(cells, USUAL, 'sluice', LONG);
  const others = QUEUED_FAIRLY.flatMap((peer) => cell(cells, USUAL, peer, LONG) ?? []);
  if (own === undefined || others.length === 0) return [];
  const limits = [['p95', 1.4], ['p99', 1.5]] as const; // prettier-ignore
  return limits.map(([figure, factor]) => {
    const best = others.reduce((a, b) => (b[figure] < a[figure] ? b : a));
    return atMost(`${LONG} class, ${figure} at ${USUAL} %`, own, best, figure, factor, nameOf(best.server));
  });
};

export const meanAt =
  (percent: number): Judge =>
  (cells) => {
    const own = cell(cells, percent, 'sluice', ALL);
    const peers = cells.filter((each) => each.percent === percent && each.class === ALL && isPeer(each));
    const [first] = peers;
    if (own === undefined || first === undefined) return [];
    const best = peers.reduce((a, b) => (b.mean < a.mean ? b : a), first);
    return [
      {
        what: `all requests, mean at ${percent} %`,
        bar: 'better than every peer',
        figure: `${ms(own.mean)}; best peer ${nameOf(best.server)} ${ms(best.mean)}${unanswered(own)}${unanswered(best)}`,
        met: own.mean < best.mean,
      },
    ];
  };

export const mean: Judge = meanAt(USUAL);

function isPeer({ server }: Cell): boolean {
  const found = CONTENDERS[server];
  return found !== undefined && !found.isOurs && found.isReference !== true;
}

/** Fairness of waits: a class's wait is its latency without its cost. Overload is another bar's. */
export const fairness: Judge = (cells, { costs }) => {
  const wait = (each: Cell) => Math.max(0, each.p99 - (costs.ms[each.class] ?? 0));
  const pairs = cells.flatMap((own) => {
    const fifo = cell(cells, own.percent, 'sluice-fifo', own.class);
    if (own.server !== 'sluice' || own.class === ALL || own.percent > 100 || fifo === undefined) return [];
    if (own.ok < REQUESTS_MIN || fifo.ok < REQUESTS_MIN) return [];
    return [{ own, ratio: wait(own) / wait(fifo), text: `${ms(wait(own))} / ${ms(wait(fifo))}` }];
  });
  const [first] = pairs;
  if (first === undefined) return [];
  const worst = pairs.reduce((a, b) => (b.ratio > a.ratio ? b : a), first);
  return [
    {
      what: 'wait of the class that is worst off, p99',
      bar: '≤ 5× its wait in fifo',
      figure: `${worst.own.class} at ${worst.own.percent} %: ${worst.text} = ${worst.ratio.toFixed(2)}`,
      met: worst.ratio <= 5,
    },
  ];
};

export const starvation: Judge = (cells) => {
  const own = cells.filter((each) => each.percent === 95 && each.server === 'sluice' && each.class !== ALL);
  if (own.length === 0) return [];
  const missing = own.filter(({ ok, sent }) => ok < sent);
  const longest = own.map((each) => `${each.class} at most ${ms(each.max)}`);
  return [
    {
      what: 'requests of any class that were not answered at 95 %',
      bar: 'none',
      figure: [
        ...missing.map(({ class: name, ok, sent }) => `${name} ${sent - ok} of ${sent}`),
        ...longest,
      ].join('; '),
      met: missing.length === 0,
    },
  ];
};

export const overload: Judge = (cells, { costs }) => {
  const whole = cell(cells, 200, 'sluice', ALL);
  const [own, usual] = [cell(cells, 200, 'sluice', SHORT), cell(cells, USUAL, 'sluice', SHORT)];
  const bars: Bar[] = [];
  if (whole !== undefined) {
    const part = whole.work_per_s / costs.work_per_s;
    bars.push({
      what: 'goodput at ×2, CPU time of what was answered',
      bar: '≥ 95 % of capacity',
      figure: share(part),
      met: part >= 0.95,
    });
  }
  if (own !== undefined && usual !== undefined)
    bars.push(atMost(`${SHORT} class, p99 at ×2`, own, usual, 'p99', 2, `its own at ${USUAL} %`));
  return bars;
};

/** Bar for requests of one kind: there is nothing to gain, and nothing may be lost. */
export const asFifo: Judge = (cells, { throughput }) => {
  const bars: Bar[] = [];
  const [own, fifo] = [median(throughput['sluice'] ?? []), median(throughput['sluice-fifo'] ?? [])];
  if (Number.isFinite(own / fifo)) {
    bars.push({
      what: 'throughput against fifo',
      bar: '≥ 95 %',
      figure: `${short(own)} / ${short(fifo)} = ${share(own / fifo)}`,
      met: own / fifo >= 0.95,
    });
  }
  for (const each of cells.filter(({ server }) => server === 'sluice')) {
    const other = cell(cells, each.percent, 'sluice-fifo', each.class);
    if (other !== undefined) bars.push(atMost(`p99 at ${each.percent} %`, each, other, 'p99', 1.05, 'fifo'));
  }
  return bars;
};

export const suggestions: Judge = (cells) => {
  const own = cell(cells, USUAL, 'sluice', SUGGEST);
  if (own === undefined) return [];
  return [
    { what: `autocomplete, p95 at ${USUAL} %`, bar: '≤ 40 ms', figure: ms(own.p95), met: own.p95 <= 40 },
  ];
};

/** Requests that wait most of the time. */
export const io: Judge = (cells, { throughput }) => {
  const bars: Bar[] = [];
  const own = median(throughput['sluice'] ?? []);
  for (const other of ['sluice-unlimited', 'cluster']) {
    const theirs = median(throughput[other] ?? []);
    if (!Number.isFinite(own / theirs)) continue;
    bars.push({
      what: `throughput against ${nameOf(other)}`,
      bar: '≥ 95 %',
      figure: `${short(own)} / ${short(theirs)} = ${share(own / theirs)}`,
      met: own / theirs >= 0.95,
    });
  }
  for (const each of cells.filter(({ server }) => server === 'sluice')) {
    const strict = cell(cells, each.percent, 'sluice-strict', each.class);
    if (strict !== undefined)
      bars.push(
        atMost(`p99 at ${each.percent} % of what strict can carry`, each, strict, 'p99', 1.1, 'strict'),
      );
  }
  return bars;
};
