// The cells: every fault through every server, in turns. All cells of a fault have the same number of faults and the same requests, which
// arrive whether or not earlier ones were answered (`equal.ts` has the rules).
import { randomFrom } from '../../tests/support/chance.ts';
import { type LoadResult, startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { type Bar, median, printTable, short } from '../lib/report.ts';
import {
  type Cell,
  type CellPlan,
  type Failure,
  METHODS,
  type Total,
  both,
  byFault,
  minutesOf,
  none,
  planOf,
  totalOf,
  unequal,
} from './equal.ts';
import { FAULTS, every, heal } from './inject.ts';
import { startFaultCluster, startFaultPassenger } from './more-peers.ts';
import { type FaultServer, startFaultPm2, startFaultSluice, startNginxHaproxySupervised } from './peers.ts';
import { mixedRoutes } from './routes.ts';

/** Longer than any answer takes, also while half of the workers are gone. */
const TIMEOUT_MS = 10_000;
const TIMEOUT_QUICK_MS = 3_000;
const QUICK_EVERY_MS_MAX = 4_000;

const SERVERS: Record<string, (workers: number) => Promise<FaultServer>> = {
  sluice: (workers) => startFaultSluice(workers),
  'nginx-haproxy': startNginxHaproxySupervised,
  passenger: startFaultPassenger,
  pm2: startFaultPm2,
  cluster: startFaultCluster,
};
interface Measured extends Cell {
  result: LoadResult;
  /** Workers that still computed afterwards though nobody asked. */
  stuck: number;
}

export function plansOf({ numbers, words, quick }: Options): CellPlan[] {
  const number = (name: string): number => numbers[name] ?? 0;
  // Those first that may show that a run is in vain: a reload that takes too long, a rate that a server does not carry.
  const all: Record<keyof typeof FAULTS, [times: number, every_ms: number]> = {
    reload: [number('reloads'), number('reloadEveryMs')],
    normal: [0, 0],
    kills: [number('kills'), number('killEveryMs')],
    loop: [number('loops'), number('loopEveryMs')],
  };
  return Object.entries(all)
    .filter(([fault]) => words['fault'] === 'all' || words['fault'] === fault)
    .map(([fault, [times, every_ms]]) => {
      const interval = quick ? Math.min(every_ms, QUICK_EVERY_MS_MAX) : every_ms;
      return planOf(fault, times, interval, number('rate'), number('requests'));
    });
}

export function serversOf({ only }: Options): string[] {
  const unknown = only.find((name) => SERVERS[name] === undefined);
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${Object.keys(SERVERS).join(', ')}`);
  return only.length === 0 ? Object.keys(SERVERS) : only;
}

export async function cells(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const plans = plansOf(options);
  const names = serversOf(options);
  sayBefore(plans, names, options);
  const servers: FaultServer[] = [];
  const measured: Measured[] = [];
  try {
    for (const name of names) {
      const start = SERVERS[name];
      if (start !== undefined) servers.push(await start(options.workers));
    }
    for (const server of servers) await heal(server);
    for (let round = 0; round < options.runs; round += 1) {
      for (const plan of plans) {
        // Another first in each group of cells.
        const at = (round + measured.length / servers.length) % servers.length;
        for (const server of [...servers.slice(at), ...servers.slice(0, at)]) {
          const cell = await measure(server, plan, options, round);
          measured.push(cell);
          const kinds = kindsOf([cell]);
          console.log(
            `  ${plan.fault}, ${server.name}: ${cell.failed.GET} GETs and ${cell.failed.POST} POSTs failed` +
              `${kinds === '' ? '' : ` (${kinds})`}; ${doneOf([cell])}`,
          );
        }
      }
    }
  } finally {
    await Promise.all(servers.map(async (server) => server.stop()));
  }
  report(measured);
  const reasons = unequal(measured);
  if (reasons.length > 0)
    console.log(`Not to be published:\n${reasons.map((each) => `  ${each}\n`).join('')}`);
  return { bars: barsOf(measured), data: { cells: measured } };
}

function sayBefore(plans: CellPlan[], names: string[], { workers, runs, numbers }: Options): void {
  const minutes = minutesOf(plans, names.length, runs);
  console.log(
    `${workers} workers. Requests of ${numbers['ms']} ms of CPU arrive at ${numbers['rate']} a second (Poisson, an open loop), a fifth of them POST.\n` +
      `Nothing is sent again by the client. All servers get the same requests.\n`,
  );
  printTable(
    ['fault', 'times', 'every s', 'requests', 'seconds'],
    plans.map(({ fault, times, every_ms, requests, rate_per_s }) => [
      fault,
      times,
      times === 0 ? '-' : short(every_ms / 1_000),
      requests,
      (requests / rate_per_s).toFixed(0),
    ]),
  );
  console.log(
    `${names.length} servers, ${runs} ${runs === 1 ? 'round' : 'rounds'}: about ${minutes.toFixed(0)} minutes.\n`,
  );
}

async function measure(
  server: FaultServer,
  plan: CellPlan,
  options: Options,
  round: number,
): Promise<Measured> {
  const ms = options.numbers['ms'] ?? 4;
  const fault = FAULTS[plan.fault];
  if (fault === undefined) throw new Error(`no such fault: ${plan.fault}`);
  const { act, end } = fault(server, randomFrom(round + 1));
  const running = startLoad({
    targets: server.targets,
    routes: mixedRoutes(ms),
    seed: round + 1,
    timeout_ms: options.quick ? TIMEOUT_QUICK_MS : TIMEOUT_MS,
    resend: false,
    samples: true,
    mode: {
      kind: 'open',
      rate_per_s: plan.rate_per_s,
      // The number of requests ends it, so that it is the same to one.
      duration_ms: Math.ceil((2_000 * plan.requests) / plan.rate_per_s),
      requests_max: plan.requests,
    },
  });
  const injected = every(plan.every_ms, act, plan.times);
  const result = await running.result;
  let problem = '';
  let moments: number[] = [];
  try {
    moments = await injected.stop();
  } catch (error) {
    problem = `not done: ${error instanceof Error ? error.message : String(error)}`;
  }
  end?.();
  const offered = none();
  for (const method of METHODS) {
    const counts = result.classes[method];
    offered[method] = (counts?.ok ?? 0) + (counts?.refused ?? 0) + (counts?.failed ?? 0);
  }
  const stuck = await heal(server);
  const names = { fault: plan.fault, server: server.name, round };
  return { ...names, plan, ms, offered, ...byFault(failuresOf(result), moments), problem, stuck, result };
}

/** All that is no whole answer with a status of 200 to 399. */
function failuresOf({ classes, started_unix_ms }: LoadResult): Failure[] {
  return METHODS.flatMap((method) =>
    (classes[method]?.samples ?? [])
      .filter(([, , status]) => status < 200 || status >= 400)
      .map(([at_us, took_us]) => ({
        method,
        sent_ms: started_unix_ms + at_us / 1_000,
        ended_ms: started_unix_ms + (at_us + took_us) / 1_000,
      })),
  );
}

function groupsOf(all: Measured[]): Measured[][] {
  const found = new Map<string, Measured[]>();
  for (const cell of all) {
    const key = `${cell.fault} ${cell.server}`;
    found.set(key, [...(found.get(key) ?? []), cell]);
  }
  return [...found.values()];
}

function report(all: Measured[]): void {
  const middle = (group: Measured[], figure: 'p50' | 'p95' | 'p99'): string =>
    short(median(group.map(({ result }) => result.latency_ms[figure] ?? Number.NaN)));
  console.log('');
  printTable(
    [
      'fault',
      'server',
      'GETs',
      'POSTs',
      'failed GETs',
      'failed POSTs',
      'GETs per fault',
      'POSTs per fault',
      'of what kind',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'max ms',
      'late p99 ms',
      'done',
    ],
    groupsOf(all).map((group) => {
      const { offered, failed, per_event } = totalOf(group);
      return [
        group[0]?.fault ?? '',
        group[0]?.server ?? '',
        offered.GET,
        offered.POST,
        failed.GET,
        failed.POST,
        short(per_event.GET),
        short(per_event.POST),
        kindsOf(group),
        middle(group, 'p50'),
        middle(group, 'p95'),
        middle(group, 'p99'),
        short(Math.max(...group.map(({ result }) => result.latency_ms.max ?? Number.NaN))),
        short(Math.max(...group.map(({ result }) => result.late_ms.p99 ?? Number.NaN))),
        doneOf(group),
      ];
    }),
  );
}

/** `60 of 60 times, 2 left stuck`; for few faults what failed by each. */
function doneOf(group: Measured[]): string {
  return group
    .map(({ events, plan, stuck, problem }) => {
      const each = events.map(({ failed }) => both(failed)).join(', ');
      const failures = events.length > 0 && events.length < 10 ? `, which failed ${each}` : '';
      const left = stuck > 0 ? `, ${stuck} left stuck` : '';
      return `${events.length} of ${plan.times} times${failures}${left}${problem === '' ? '' : `, ${problem}`}`;
    })
    .join('; ');
}

/** `502 ×3 closed ×1`: statuses that are no success, and exchanges that broke. */
function kindsOf(group: Measured[]): string {
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

function barsOf(all: Measured[]): Bar[] {
  const groups = groupsOf(all);
  const own = (fault: string): Total | undefined => {
    const group = groups.find(([cell]) => cell?.server === 'Sluice' && cell.fault === fault);
    return group === undefined ? undefined : totalOf(group);
  };
  const nothing = (what: string, figure: number | undefined): Bar[] =>
    figure === undefined ? [] : [{ what, bar: '0', figure: String(figure), met: figure === 0 }];
  const failures = (fault: string): number | undefined => {
    const total = own(fault);
    return total === undefined ? undefined : both(total.failed);
  };
  return [
    ...nothing('failures through Sluice in normal operation', failures('normal')),
    ...nothing('failures through Sluice during reloads', failures('reload')),
    ...nothing('GETs that failed through Sluice by kills', own('kills')?.failed.GET),
    ...againstBest('kills', own('kills'), groups),
    ...againstBest('loop', own('loop'), groups),
  ];
}

/** Failures for each fault, against the peer that has fewest. */
function againstBest(fault: string, own: Total | undefined, groups: Measured[][]): Bar[] {
  const peers = groups
    .filter(([cell]) => cell?.fault === fault && !cell.server.startsWith('Sluice'))
    .map((group) => ({ name: group[0]?.server ?? '', per_event: both(totalOf(group).per_event) }));
  const [first] = peers;
  if (own === undefined || first === undefined) return [];
  const best = peers.reduce((a, b) => (b.per_event < a.per_event ? b : a), first);
  const per_event = both(own.per_event);
  return [
    {
      what: `failures for each of the faults "${fault}", against the best peer`,
      bar: '≤ 1/2',
      figure: `${short(per_event)} / ${short(best.per_event)} (${best.name})`,
      met: per_event <= best.per_event / 2,
    },
  ];
}
