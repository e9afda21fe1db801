// The table of the first page, made from published results of two benchmarks, so that no figure in it is typed by hand.
import fs from 'node:fs';
import path from 'node:path';
import { read, root } from './repository.ts';

const RESULTS = {
  schedule: 'bench/results/published/schedule-mixed.json',
  faults: 'bench/results/published/faults-matrix.json',
} as const;
const BEGIN = '<!-- Comparison: made from bench/results/published by `make generate`. -->\n';
const END = '<!-- End of the comparison. -->\n';
const PERCENT = 72;

/** By their names in both benchmarks; `undefined` where one of them does not have it. */
const SERVERS: readonly { name: string; schedule: string; faults: string | undefined }[] = [
  { name: '**Sluice**', schedule: 'sluice', faults: 'Sluice' },
  { name: 'nginx + HAProxy', schedule: 'nginx-haproxy', faults: 'nginx + HAProxy' },
  { name: 'Passenger', schedule: 'passenger', faults: 'Passenger' },
  { name: 'PM2', schedule: 'pm2', faults: 'PM2' },
  { name: 'node:cluster', schedule: 'cluster', faults: 'node:cluster' },
  { name: 'Watt', schedule: 'watt', faults: undefined },
];

interface Result<Cell> {
  date: string;
  machine: string;
  node: string;
  data: { cells: Cell[] };
}

interface ScheduleCell {
  percent: number;
  server: string;
  class: string;
  p50: number;
  p99: number;
}

interface FaultCell {
  fault: string;
  server: string;
  result: { sent: number; failed: number; refused: number; classes: Record<string, { failed: number }> };
}

function resultOf<Cell>(file: string): Result<Cell> {
  return JSON.parse(read(file)) as Result<Cell>;
}

/** The table, with what it was measured on below it. */
export function comparison(): string {
  const schedule = resultOf<ScheduleCell>(RESULTS.schedule);
  const faults = resultOf<FaultCell>(RESULTS.faults);
  const latency = (server: string, name: string): string => {
    const cell = schedule.data.cells.find(
      (each) => each.server === server && each.class === name && each.percent === PERCENT,
    );
    if (cell === undefined) throw new Error(`${RESULTS.schedule} has no ${name} of ${server}`);
    return `${Math.round(cell.p50)} / ${Math.round(cell.p99)} ms`;
  };
  const failures = (server: string | undefined, fault: string): string => {
    if (server === undefined) return 'not measured';
    const cells = faults.data.cells.filter((cell) => cell.server === server && cell.fault === fault);
    if (cells.length === 0) throw new Error(`${RESULTS.faults} has no ${fault} of ${server}`);
    const sum = (count: (cell: FaultCell) => number): number =>
      cells.reduce((all, cell) => all + count(cell), 0);
    return `${sum(({ result }) => result.failed + result.refused)} of ${sum(({ result }) => result.sent).toLocaleString('en-US')}`;
  };
  const rows = SERVERS.map(
    ({ name, schedule: key, faults: other }) =>
      `| ${name} | ${latency(key, '5 ms')} | ${latency(key, '100 ms')} | ${failures(other, 'kills')} | ${failures(other, 'reload')} |`,
  );
  const failedGets = faults.data.cells
    .filter(({ server }) => server === 'Sluice')
    .reduce((all, { result }) => all + (result.classes['GET']?.failed ?? Number.NaN), 0);
  const day = schedule.date.slice(0, 10);
  return [
    '| | short requests, p50 / p99 | long requests, p50 / p99 | failed, a worker killed each second | failed during reloads |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `Two workers, ${schedule.machine}, Node ${schedule.node.slice(1)}, ${day}. Nine of ten requests take 5 ms of CPU and one takes 100, at ${PERCENT} % of the capacity;`,
    'nobody is told which. Nothing is sent again by the client. `make bench-schedule ARGS="--mode mixed --loads 72"` and `make bench-faults ARGS="--fault losses"` measure it, and',
    '[bench/README.md](bench/README.md) says how. Watt runs its workers as threads of one process, which no kill ends one by one.',
    `A fifth of the requests under kills and reloads are POSTs, which Sluice never sends twice. Through Sluice ${failedGets} GETs failed.`,
    '',
  ].join('\n');
}

/** The first page with the table in its place. Throws where the page has no place for it. */
export function withComparison(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('README.md has no place for the comparison');
  return `${page.slice(0, begin + BEGIN.length)}\n${comparison()}\n${page.slice(end)}`;
}

if (process.argv[1] === import.meta.filename) {
  const page = path.join(root, 'README.md');
  fs.writeFileSync(page, withComparison(fs.readFileSync(page, 'utf8')));
}
