// The load matrix: every load with every fault, through every server, in turns.
import { type LoadResult, type Route, startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { type Bar, median, printTable, short, sum } from '../lib/report.ts';
import { FAULTS, heal, placesMeter } from './inject.ts';
import { startFaultCluster, startFaultPassenger } from './more-peers.ts';
import { type FaultServer, startFaultPm2, startFaultSluice, startNginxHaproxySupervised } from './peers.ts';

/** Concurrent requests for 15 workers; scaled to the workers that there are. */
const LOADS = { low: 5, high: 13, queueing: 20 } as const;
const WORKERS_OF_LOADS = 15;
/** Longer than any answer takes, also while half of the workers are gone. */
const TIMEOUT_MS = 10_000;

const SERVERS: Record<string, (workers: number) => Promise<FaultServer>> = {
  sluice: (workers) => startFaultSluice(workers),
  'nginx-haproxy': startNginxHaproxySupervised,
  pm2: startFaultPm2,
  cluster: startFaultCluster,
  passenger: startFaultPassenger,
};

interface Cell {
  fault: string;
  load: string;
  concurrency: number;
  server: string;
  round: number;
  result: LoadResult;
  /** CPU of the busiest place over that of the least busy. */
  unevenness: number;
  done: string;
  /** What could not be done. */
  problem: string;
}

export function concurrencyOf(load: keyof typeof LOADS, workers: number): number {
  return Math.max(1, Math.round((LOADS[load] * workers) / WORKERS_OF_LOADS));
}

/** GET and POST mixed; each burns so many ms of CPU. */
export function mixedRoutes(ms: number): Route[] {
  return [
    { class: 'GET', path: `/?ms=${ms}`, weight: 80 },
    { class: 'POST', path: `/?ms=${ms}`, method: 'POST', body_bytes: 1_000, weight: 20 },
  ];
}

export async function matrix(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const loads = Object.keys(LOADS) as (keyof typeof LOADS)[];
  const scaled = loads.map((load) => `${load} ${concurrencyOf(load, options.workers)}`).join(', ');
  console.log(
    `${options.workers} workers. Concurrent requests, 5, 13 and 20 for 15 workers scaled to these and rounded: ${scaled}.\n` +
      `${options.numbers['requests']} requests a cell and round, ${options.numbers['ms']} ms of CPU each, a fifth of them POST. Nothing is sent again by the client.\n`,
  );
  const servers: FaultServer[] = [];
  const cells: Cell[] = [];
  try {
    for (const [name, start] of Object.entries(SERVERS)) {
      if (options.only.length === 0 || options.only.includes(name))
        servers.push(await start(options.workers));
    }
    for (const server of servers) await heal(server);
    for (let round = 0; round < options.runs; round += 1) {
      for (const fault of faultsOf(options)) {
        for (const load of loads) {
          // Another first in each cell.
          const at = (round + cells.length) % Math.max(1, servers.length);
          for (const server of [...servers.slice(at), ...servers.slice(0, at)]) {
            const cell = await measure(server, fault, load, options, round);
            cells.push(cell);
            console.log(
              `  ${fault}, ${load}, ${server.name}: ${failuresOf([cell])}; ${cell.done}${cell.problem}`,
            );
          }
        }
      }
    }
  } finally {
    await Promise.all(servers.map(async (server) => server.stop()));
  }
  console.log('');
  printTable(
    [
      'fault',
      'load',
      'server',
      'sent',
      'failures',
      'of what kind',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'max ms',
      'busiest/least',
      'done',
    ],
    groups(cells).map((group) => row(group)),
  );
  return { bars: bars(cells), data: { cells } };
}

function faultsOf({ words }: Options): string[] {
  const { fault = 'all' } = words;
  if (fault === 'losses') return ['reload', 'kills'];
  return fault === 'all' ? Object.keys(FAULTS) : [fault];
}

async function measure(
  server: FaultServer,
  fault: string,
  load: keyof typeof LOADS,
  options: Options,
  round: number,
): Promise<Cell> {
  const connections = concurrencyOf(load, options.workers);
  const inject = FAULTS[fault];
  if (inject === undefined) throw new Error(`no such fault: ${fault}`);
  const places = placesMeter(server);
  const running = startLoad({
    targets: server.targets,
    routes: mixedRoutes(options.numbers['ms'] ?? 5),
    seed: round + 1,
    timeout_ms: TIMEOUT_MS,
    resend: false,
    mode: { kind: 'closed', connections, requests: options.numbers['requests'] ?? 0 },
  });
  const injected = inject(server);
  const result = await running.result;
  const used = places.stop();
  const cell = {
    fault,
    load,
    concurrency: connections,
    server: server.name,
    round,
    result,
    unevenness: Math.max(...used) / Math.min(...used),
    done: '',
    problem: '',
  };
  try {
    cell.done = await injected.stop();
  } catch (error) {
    cell.problem = `not done: ${error instanceof Error ? error.message : String(error)}`;
  }
  const stuck = await heal(server);
  if (stuck > 0) cell.done += `, ${stuck} left stuck`;
  return cell;
}

function groups(cells: Cell[]): Cell[][] {
  const found = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = `${cell.fault} ${cell.load} ${cell.server}`;
    found.set(key, [...(found.get(key) ?? []), cell]);
  }
  return [...found.values()].map((group) => group);
}

function row(group: Cell[]): (string | number)[] {
  const [first] = group;
  const middle = (figure: 'p50' | 'p95' | 'p99') =>
    short(median(group.map(({ result }) => result.latency_ms[figure] ?? Number.NaN)));
  return [
    first?.fault ?? '',
    `${first?.load} (${first?.concurrency})`,
    first?.server ?? '',
    sum(group.map(({ result }) => result.sent)),
    sum(group.map(({ result }) => result.failed + result.refused)),
    kindsOf(group),
    middle('p50'),
    middle('p95'),
    middle('p99'),
    short(Math.max(...group.map(({ result }) => result.latency_ms.max ?? Number.NaN))),
    // A process that loops is the busiest by far, which says nothing.
    first?.fault === 'loop' ? '-' : short(median(group.map(({ unevenness }) => unevenness))),
    group.map(({ done, problem }) => `${done}${problem}`).join('; '),
  ];
}

const failuresOf = (group: Cell[]): string =>
  `${sum(group.map(({ result }) => result.failed + result.refused))} failures${kindsOf(group) === '' ? '' : ` (${kindsOf(group)})`}`;

/** `502 ×3 closed ×1`: statuses that are no success, and exchanges that broke. */
function kindsOf(group: Cell[]): string {
  const kinds: Record<string, number> = {};
  for (const { result } of group) {
    const statuses = Object.entries(result.statuses).filter(([status]) => !/^[23]/.test(status));
    // `status` among the errors counts the same answers again.
    const broken = Object.entries(result.errors).filter(([kind]) => kind !== 'status');
    for (const [kind, times] of [...statuses, ...broken]) {
      kinds[kind] = (kinds[kind] ?? 0) + times;
    }
  }
  return Object.entries(kinds)
    .map(([kind, times]) => `${kind} ×${times}`)
    .join(' ');
}

function bars(cells: Cell[]): Bar[] {
  const own = (fault: string): Cell[] =>
    cells.filter((cell) => cell.server === 'Sluice' && cell.fault === fault && cell.problem === '');
  const all = (fault: string): number => sum(own(fault).map(({ result }) => result.failed + result.refused));
  const ofClass = (fault: string, name: string): number =>
    sum(own(fault).map(({ result }) => result.classes[name]?.failed ?? 0));
  const bar = (what: string, figure: number): Bar => ({
    what,
    bar: '0',
    figure: String(figure),
    met: figure === 0,
  });
  return [
    ...(own('normal').length > 0 ? [bar('failures through Sluice in normal operation', all('normal'))] : []),
    ...(own('reload').length > 0 ? [bar('failures through Sluice during reloads', all('reload'))] : []),
    ...(own('kills').length > 0
      ? [bar('GETs that failed through Sluice with a kill a second', ofClass('kills', 'GET'))]
      : []),
  ];
}
