// The table of the first page, made from published results of two benchmarks, so that no figure in it is typed by hand. The header marks
// Sluice's worst column, and every figure in which a peer is better is named below the table. Cells of faults that compare unlike things stop it.
import fs from 'node:fs';
import path from 'node:path';
import { type Cell, both, totalOf, unequal } from '../../bench/faults/equal.ts';
import { unlike } from '../../bench/schedule/alike.ts';
import { read, root } from './repository.ts';

const RESULTS = {
  schedule: 'bench/results/published/schedule-mixed.json',
  faults: 'bench/results/published/faults-cells.json',
} as const;
const BEGIN = '<!-- Comparison: made from bench/results/published by `make generate`. -->\n';
const END = '<!-- End of the comparison. -->\n';
const PERCENT = 72;
const QUANTILES = ['p50', 'p95', 'p99'] as const;

interface Contender {
  name: string;
  schedule: string;
  /** `undefined` where the benchmark of faults does not have it. */
  faults: string | undefined;
}

const OURS: Contender = { name: 'Sluice', schedule: 'sluice', faults: 'Sluice' };
/** By their names in both benchmarks. */
const PEERS: readonly Contender[] = [
  { name: 'nginx + HAProxy', schedule: 'nginx-haproxy', faults: 'nginx + HAProxy' },
  { name: 'Passenger', schedule: 'passenger', faults: 'Passenger' },
  { name: 'PM2', schedule: 'pm2', faults: 'PM2' },
  { name: 'node:cluster', schedule: 'cluster', faults: 'node:cluster' },
  { name: 'Watt', schedule: 'watt', faults: undefined },
];

export interface Result<Kind, More = unknown> {
  date: string;
  machine: string;
  node: string;
  data: { cells: Kind[] } & More;
}

/** Processes of a server after its last run. */
export interface Sizes {
  sizes: Record<string, { rss_bytes: number }>;
}

export interface ScheduleCell {
  percent: number;
  server: string;
  class: string;
  sent: number;
  ok: number;
  p50: number;
  p95: number;
  p99: number;
}

interface Column {
  title: string;
  /** What is compared; the fewer, the better. `undefined` where a contender was not measured. */
  figures: { what: string; of: (each: Contender) => number | undefined; unit: string }[];
  text: (each: Contender) => string;
}

function latencies(schedule: ScheduleCell[], title: string, name: string): Column {
  const cellOf = ({ schedule: server }: Contender): ScheduleCell => {
    const cell = schedule.find(
      (each) => each.server === server && each.class === name && each.percent === PERCENT,
    );
    if (cell === undefined) throw new Error(`${RESULTS.schedule} has no ${name} of ${server}`);
    return cell;
  };
  return {
    title: `${title}, ${QUANTILES.join(' / ')}`,
    figures: QUANTILES.map((quantile) => ({
      what: `${quantile} of ${title}`,
      of: (each) => cellOf(each)[quantile],
      unit: ' ms',
    })),
    text: (each) => `${QUANTILES.map((quantile) => Math.round(cellOf(each)[quantile])).join(' / ')} ms`,
  };
}

function memory({ sizes }: Sizes): Column {
  const mebibytesOf = ({ schedule: server }: Contender): number => {
    const size = sizes[server];
    if (size === undefined) throw new Error(`${RESULTS.schedule} has no memory of ${server}`);
    return size.rss_bytes / 2 ** 20;
  };
  const what = 'memory of all processes';
  return {
    title: what,
    figures: [{ what, of: mebibytesOf, unit: ' MiB' }],
    text: (each) => `${Math.round(mebibytesOf(each))} MiB`,
  };
}

function failures(cells: Cell[]): Column[] {
  const reasons = unequal(cells);
  if (reasons.length > 0) throw new Error(`${RESULTS.faults} compares unlike things: ${reasons.join('; ')}`);
  const total = (server: string, fault: string): ReturnType<typeof totalOf> => {
    const own = cells.filter((cell) => cell.server === server && cell.fault === fault);
    if (own.length === 0) throw new Error(`${RESULTS.faults} has no ${fault} of ${server}`);
    return totalOf(own);
  };
  const column = (
    title: string,
    fault: string,
    figures: [what: string, of: (all: ReturnType<typeof totalOf>) => number][],
    text: (all: ReturnType<typeof totalOf>) => string,
  ): Column => ({
    title,
    figures: figures.map(([what, of]) => ({
      what,
      of: ({ faults }) => (faults === undefined ? undefined : of(total(faults, fault))),
      unit: '',
    })),
    text: ({ faults }) => (faults === undefined ? 'not measured' : text(total(faults, fault))),
  });
  const share = (all: ReturnType<typeof totalOf>): string =>
    `${both(all.failed)} of ${both(all.offered).toLocaleString('en-US')}`;
  const all = (name: string): [string, (total: ReturnType<typeof totalOf>) => number][] => [
    [`failures ${name}`, ({ failed }) => both(failed)],
  ];
  const { events: reloads } = total('Sluice', 'reload');
  const { events: loops } = total('Sluice', 'loop');
  return [
    column(
      'failed per kill of a worker, GET / POST',
      'kills',
      [
        ['GETs that fail per kill', ({ per_event }) => per_event.GET],
        ['POSTs that fail per kill', ({ per_event }) => per_event.POST],
      ],
      ({ per_event: { GET, POST } }) => `${number(GET)} / ${number(POST)}`,
    ),
    column(`failed in ${reloads} reloads`, 'reload', all('during reloads'), share),
    column(`failed beside ${loops} infinite loops`, 'loop', all('beside infinite loops'), share),
    column('failed without a fault', 'normal', all('without a fault'), share),
  ];
}

const number = (value: number): string => (value === 0 ? '0' : value.toFixed(2));

/** A figure in which a peer is better than Sluice, and by how much. */
interface Loss {
  title: string;
  line: string;
  /** Sluice's figure by the best peer's; infinite where the peer has 0. */
  ratio: number;
}

function losses(columns: Column[]): Loss[] {
  return columns.flatMap(({ title, figures }) =>
    figures.flatMap(({ what, of, unit }) => {
      const own = of(OURS);
      const measured = PEERS.flatMap((peer) => {
        const value = of(peer);
        return value === undefined ? [] : [{ name: peer.name, value }];
      });
      const [first] = measured;
      if (own === undefined || first === undefined) return [];
      const best = measured.reduce((a, b) => (b.value < a.value ? b : a), first);
      if (own <= best.value) return [];
      const said = (value: number): string => (unit === '' ? number(value) : String(Math.round(value)));
      const ratio = own / best.value;
      const times = best.value > 0 ? `, ${ratio.toFixed(2)}×` : '';
      return [
        {
          title,
          ratio,
          line: `- ${what}: ${said(own)} against ${said(best.value)}${unit} (${best.name})${times}`,
        },
      ];
    }),
  );
}

/** The table, with what it was measured on below it. Without results of faults it has latencies alone. */
export function comparison(schedule: Result<ScheduleCell, Sizes>, faults: Result<Cell> | undefined): string {
  const reasons = unlike(schedule.data.cells);
  if (reasons.length > 0)
    throw new Error(`${RESULTS.schedule} compares unlike things: ${reasons.join('; ')}`);
  const columns = [
    latencies(schedule.data.cells, 'short requests', '5 ms'),
    latencies(schedule.data.cells, 'long requests', '100 ms'),
    memory(schedule.data),
    ...(faults === undefined ? [] : failures(faults.data.cells)),
  ];
  const row = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const lost = losses(columns);
  const worst = lost.reduce<Loss | undefined>(
    (a, b) => (a === undefined || b.ratio > a.ratio ? b : a),
    undefined,
  );
  const day = schedule.date.slice(0, 10);
  return [
    row([
      '',
      ...columns.map(({ title }) => (title === worst?.title ? `${title} (Sluice's worst)` : title)),
    ]).replace('|  |', '| |'),
    row(['---', ...columns.map(() => '---')]),
    ...[{ ...OURS, name: `**${OURS.name}**` }, ...PEERS].map((each) =>
      row([each.name, ...columns.map(({ text }) => text(each))]),
    ),
    '',
    ...(lost.length === 0 ? [] : ['A peer is better in:', '', ...lost.map(({ line }) => line), '']),
    `Each server has two workers, and Sluice one more for long requests: ${schedule.machine}, Node ${schedule.node.slice(1)}, ${day}.`,
    `Nine of ten requests take 5 ms of CPU and one takes 100 ms, at ${PERCENT} % of the capacity. No server is told which requests are long.`,
    '`make bench-schedule ARGS="--mode mixed --loads 72"` measures latencies and memory.',
    ...(faults === undefined ? [] : sentencesOf(faults)),
    '[bench/README.md](bench/README.md) describes the method.',
    '',
  ].join('\n');
}

function sentencesOf({ date, data: { cells } }: Result<Cell>): string[] {
  const [first] = cells;
  if (first === undefined) return [];
  return [
    `\`make bench-faults\` measures failures, ${date.slice(0, 10)}: ${first.plan.rate_per_s} requests of ${first.ms} ms a second, a fifth of them POST, and the same faults for every server.`,
    'The client never retries. Sluice never sends a POST twice, so a POST fails with its worker.',
    'Watt runs its workers as threads of one process, so no kill can end one of them.',
  ];
}

function resultOf<Kind, More = unknown>(file: string): Result<Kind, More> {
  return JSON.parse(read(file)) as Result<Kind, More>;
}

/** The first page with the table in its place. Throws where the page has no place for it. */
export function withComparison(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('README.md has no place for the comparison');
  const faults = fs.existsSync(path.join(root, RESULTS.faults)) ? resultOf<Cell>(RESULTS.faults) : undefined;
  const table = comparison(resultOf<ScheduleCell, Sizes>(RESULTS.schedule), faults);
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n${page.slice(end)}`;
}

if (process.argv[1] === import.meta.filename) {
  const page = path.join(root, 'README.md');
  fs.writeFileSync(page, withComparison(fs.readFileSync(page, 'utf8')));
}
