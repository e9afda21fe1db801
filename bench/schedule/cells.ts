// From requests to figures: for each load and server the classes and the whole.
import type { Sample } from '../lib/load.ts';
import { median, percent as share, printTable, short, sum } from '../lib/report.ts';
import type { Measured, Run } from './measure.ts';
import { CONTENDERS } from './servers.ts';

export const ALL = 'all';

export interface Cell {
  percent: number;
  server: string;
  class: string;
  sent: number;
  ok: number;
  refused: number;
  failed: number;
  /** Median latency of answers, from the intended moment; milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  max: number;
  mean: number;
  /** Median time in the server's queue, if the server reports it. */
  queued_p50: number;
  queued_p99: number;
  /** Mean of latency over the CPU time that the class costs. */
  slowdown: number;
  /** Answers a second while requests arrived. */
  per_s: number;
  /** CPU seconds of these answers a second. */
  work_per_s: number;
}

/** CPU time of all processes of a server for an answer, milliseconds, over all rounds at a load. */
export function cpuMs(runs: Run[], { percent, server }: Pick<Cell, 'percent' | 'server'>): number {
  const own = runs.filter((run) => run.percent === percent && run.server === server);
  return (1000 * sum(own.map(({ cpu_s }) => cpu_s))) / sum(own.map(({ answers }) => answers));
}

/** `skip`: how many requests of each class and run are left out, oldest first. */
export function cellsOf({ runs, costs }: Measured, skip = 0): Cell[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = `${run.percent} ${run.server}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].flatMap((group) => {
    const classes = Object.keys(costs.ms).filter((name) =>
      group.some((run) => run.samples[name] !== undefined),
    );
    const looks = classes.map((name) => look(group, name, costs.ms[name] ?? Number.NaN, skip));
    const [first] = group;
    if (first === undefined) return [];
    const own = { percent: first.percent, server: first.server };
    const cells = looks.map((each, at) => ({ ...own, class: classes[at] ?? '', ...figures([each]) }));
    return classes.length > 1 ? [...cells, { ...own, class: ALL, ...figures(looks) }] : cells;
  });
}

interface Look {
  cost_ms: number;
  counted: Sample[];
  per_s: number;
}

function look(group: Run[], name: string, cost_ms: number, skip: number): Look {
  const counted = group.flatMap(({ samples, from_ms }) =>
    [...(samples[name] ?? [])]
      .sort(([a], [b]) => a - b)
      .slice(skip)
      .filter(([at_us]) => at_us >= from_ms * 1000),
  );
  const answered = sum(
    group.map(({ samples, from_ms, to_ms }) => {
      const isGoodput = ([at_us, took_us, status]: Sample) =>
        isOk(status) && at_us + took_us >= from_ms * 1000 && at_us + took_us < to_ms * 1000;
      return (samples[name] ?? []).filter(isGoodput).length;
    }),
  );
  const seconds = sum(group.map(({ from_ms, to_ms }) => (to_ms - from_ms) / 1000));
  return { cost_ms, counted, per_s: answered / seconds };
}

function figures(looks: Look[]): Omit<Cell, 'percent' | 'server' | 'class'> {
  const counted = looks.flatMap((each) => each.counted);
  const ok = counted.filter(([, , status]) => isOk(status));
  const refused = counted.filter(([, , status]) => status === 503).length;
  const took = sorted(ok.map(([, took_us]) => took_us / 1000));
  const queued = sorted(ok.flatMap(([, , , queue_us]) => (queue_us === null ? [] : [queue_us / 1000])));
  const slowdowns = looks.flatMap(({ counted: own, cost_ms }) =>
    own.filter(([, , status]) => isOk(status)).map(([, took_us]) => took_us / 1000 / cost_ms),
  );
  return {
    sent: counted.length,
    ok: ok.length,
    refused,
    failed: counted.length - ok.length - refused,
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
    p99: quantile(took, 0.99),
    max: took.at(-1) ?? Number.NaN,
    mean: sum(took) / took.length,
    queued_p50: quantile(queued, 0.5),
    queued_p99: quantile(queued, 0.99),
    slowdown: sum(slowdowns) / slowdowns.length,
    per_s: sum(looks.map(({ per_s }) => per_s)),
    work_per_s: sum(looks.map(({ per_s, cost_ms }) => (per_s * cost_ms) / 1000)),
  };
}

const isOk = (status: number): boolean => status >= 200 && status < 400;
const sorted = (values: number[]): number[] => values.sort((a, b) => a - b);

/** Nearest rank. */
function quantile(values: number[], q: number): number {
  return values[Math.max(0, Math.ceil(values.length * q) - 1)] ?? Number.NaN;
}

export function printCells(cells: Cell[], { runs, costs, sizes, throughput, alarms }: Measured): void {
  const isWhole = ({ class: name }: Cell): boolean => name === ALL || Object.keys(costs.ms).length === 1;
  for (const percent of new Set(cells.map((cell) => cell.percent))) {
    const some = runs.filter((run) => run.percent === percent);
    const late = short(Math.max(...some.map((run) => run.late_p99_ms)));
    const own = share(median(some.map((run) => run.generator_cpu)));
    console.log(
      `## ${percent} % load\n\nThe generator took ${own} of a core and sent at most ${late} ms late (p99).\n`,
    );
    printTable(
      [
        'server',
        'class',
        'sent',
        'refused',
        'failed',
        'p50 ms',
        'p95 ms',
        'p99 ms',
        'max ms',
        'queued p50',
        'queued p99',
        'mean ms',
        'slowdown',
        'answers/s',
        'of capacity',
        'CPU ms',
      ],
      cells
        .filter((cell) => cell.percent === percent)
        .map((cell) => [
          CONTENDERS[cell.server]?.name ?? cell.server,
          cell.class,
          cell.sent,
          cell.refused,
          cell.failed,
          ...[
            cell.p50,
            cell.p95,
            cell.p99,
            cell.max,
            cell.queued_p50,
            cell.queued_p99,
            cell.mean,
            cell.slowdown,
            cell.per_s,
          ].map(short),
          share(cell.work_per_s / costs.work_per_s),
          isWhole(cell) ? short(cpuMs(runs, cell)) : '',
        ]),
    );
  }
  const named = Object.keys(sizes);
  if (named.length === 0) return;
  const measuredThroughput = Object.keys(throughput).length > 0;
  printTable(
    ['server', 'processes', 'RSS of all, MB', ...(measuredThroughput ? ['closed loop, answers/s'] : [])],
    named.map((name) => [
      CONTENDERS[name]?.name ?? name,
      sizes[name]?.processes ?? 0,
      short((sizes[name]?.rss_bytes ?? 0) / 2 ** 20),
      ...(measuredThroughput ? [short(median(throughput[name] ?? []))] : []),
    ]),
  );
  for (const [name, texts] of Object.entries(alarms))
    for (const text of texts) console.log(`${CONTENDERS[name]?.name ?? name} raised an alarm: ${text}\n`);
}
