// Short requests beside long ones: what each class gets, through Sluice and through what users would pick instead.
//
//   npx tsx bench/schedule.ts [--mode mixed|memory|storefront|autocomplete|only-short|only-long|unknown|io|waiting|next-waiting|one-core]
//     [--sluice as-installed|strict|while-waiting] [--quick] [--runs N] [--seconds N] [--loads 50,72] [--only sluice,nginx-haproxy]
//     [--workers N]
//
// The modes are below. `--seconds` is how long requests arrive at 72 % load in `mixed`, for each server and over all rounds;
// other loads and modes take their part of it. `--loads` and `--only` choose among those of the mode. `--sluice` is how each Sluice
// shares its workers that says nothing of it itself.
import {
  type Judge,
  asFifo,
  fairness,
  io,
  longTail,
  mean,
  overload,
  shortTail,
  starvation,
  suggestions,
} from './schedule/bars.ts';
import { longUnknown, nextWaiting, oneCore, waiting } from './schedule/bars-waiting.ts';
import { cellsOf, printCells } from './schedule/cells.ts';
import { type Load, type Mode, contender, measure } from './schedule/measure.ts';
import { MIXES, type Mix } from './schedule/mixes.ts';
import { SHARING } from './schedule/servers.ts';
import { buildGenerator } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { conclude, describe, short } from './lib/report.ts';

const OURS = ['sluice-fifo', 'sluice'];
const PEERS = ['nginx-haproxy', 'passenger', 'watt', 'cluster'];
const USUAL: Load = { percent: 72, seconds: 1 };
/**
 * Loads of the run; those with more than one bar get more time. In overload a server needs as long again to answer what
 * it took.
 */
const LOADS: Load[] = [
  { percent: 50, seconds: 0.2 },
  USUAL,
  { percent: 90, seconds: 0.3 },
  { percent: 95, seconds: 0.25, only: OURS },
  { percent: 200, seconds: 0.2, inOnePiece: true },
];
/** 50 ms of wait and 5 of CPU, one at a time. */
const QUOTE_MS = 55;
/** Mean CPU time of nine light requests of 3 ms and a heavy one of 60. */
const WAITING_MS = 8.7;
/** Three in twenty of the app's pages are heavy. */
const NEXT_PER_WORKER_S = 30;
/** All but strict mode, which carries little more than a quarter of the CPU's worth of requests that wait. */
const WAITING = ['sluice', 'sluice-while-waiting', 'cluster', 'pm2', 'nginx', 'haproxy', 'watt', 'by-hand'];

const ofKind = (mix: Mix): Mode => ({
  mix,
  servers: OURS,
  loads: [USUAL],
  seconds: [0.8, 1],
  connections: 4 * cores,
});

const MODES: Record<string, { mode: Mode; judges: Judge[] }> = {
  mixed: {
    mode: { mix: mixOf('mixed'), servers: [...OURS, ...PEERS, 'pm2'], loads: LOADS, seconds: [1, 1] },
    judges: [shortTail, longTail, mean, fairness, starvation, overload],
  },
  // Sluice with its defaults has a worker more than there are cores; here all others have as many.
  memory: {
    mode: { mix: mixOf('mixed'), servers: [...OURS, ...PEERS], loads: LOADS, seconds: [0.6, 1], more: 1 },
    judges: [shortTail, longTail, mean, overload],
  },
  storefront: {
    mode: { mix: mixOf('storefront'), servers: [...OURS, ...PEERS], loads: LOADS, seconds: [0.6, 1] },
    judges: [mean, fairness, starvation],
  },
  autocomplete: {
    mode: { mix: mixOf('autocomplete'), servers: [...OURS, ...PEERS], loads: [USUAL], seconds: [0.8, 1.5] },
    judges: [suggestions, mean, fairness],
  },
  'only-short': { mode: ofKind(mixOf('only-short')), judges: [asFifo] },
  'only-long': { mode: ofKind(mixOf('only-long')), judges: [asFifo] },
  unknown: {
    mode: {
      mix: mixOf('mixed'),
      servers: [...OURS, 'nginx-haproxy', 'passenger'],
      loads: [USUAL],
      seconds: [1, 3.2],
      skip: 100,
    },
    judges: [shortTail, longUnknown, mean, fairness],
  },
  io: {
    mode: {
      mix: mixOf('quotes'),
      servers: ['sluice', 'sluice-strict', 'sluice-unlimited', 'cluster'],
      loads: [
        { percent: 50, seconds: 1 },
        USUAL,
        { percent: 750, seconds: 0.3, only: ['sluice', 'sluice-unlimited', 'cluster'] },
      ],
      seconds: [0.6, 1],
      capacity: (workers) => (workers * 1000) / QUOTE_MS,
      carries: 'which the workers carry one at a time',
      connections: 32 * cores,
    },
    judges: [io],
  },
  waiting: {
    mode: {
      mix: mixOf('waiting'),
      servers: ['sluice-strict', ...WAITING],
      loads: [
        { percent: 26, seconds: 0.4 },
        { percent: 52, seconds: 1, only: WAITING },
        { percent: 72, seconds: 1, only: WAITING },
      ],
      seconds: [0.6, 1],
      capacity: (workers) => (workers * 1000) / WAITING_MS,
      carries: 'whose work takes all the time of the cores, HTTP apart',
      connections: 16 * cores,
    },
    judges: [waiting],
  },
  'next-waiting': {
    mode: {
      mix: mixOf('next'),
      servers: ['sluice', 'sluice-strict', 'sluice-while-waiting', 'cluster'],
      loads: [{ percent: 100, seconds: 1 }],
      seconds: [1, 2],
      capacity: (workers) => workers * NEXT_PER_WORKER_S,
      carries: 'the only rate here',
    },
    judges: [nextWaiting],
  },
  'one-core': {
    mode: {
      mix: mixOf('mixed'),
      servers: ['sluice', 'sluice-strict', 'sluice-while-waiting', 'node'],
      loads: [USUAL],
      seconds: [1, 2],
      cpus: 1,
    },
    judges: [oneCore],
  },
};

/** Share of the cores that a closed loop gets on a machine without other programs; the generator and Node's own threads take the rest. */
const BUSY_BELOW = 0.85;

/** Loads of `--quick`, if the mode has it. */
const QUICK = [52, 72, 100, 200];

const options = readOptions({
  runs: 2,
  runsQuick: 1,
  workers: cores,
  words: { mode: Object.keys(MODES), sluice: Object.keys(SHARING) },
  numbers: { seconds: [95, 5] },
  lists: ['loads'],
});
const name = options.words['mode'] ?? '';
const chosen = MODES[name];
if (chosen === undefined) throw new Error(`there is no mode ${name}`);
const { mode, judges } = chosen;
const sharing = options.words['sluice'] ?? '';
// Where the servers are confined to some CPUs, each has a worker for each of these.
if (mode.cpus !== undefined) options.workers = mode.cpus;
const given = options.lists['loads'] ?? [];
const wanted = given.length === 0 && options.quick ? QUICK : given;
const loads = [
  ...mode.loads.filter(({ percent }) => wanted.length === 0 || wanted.includes(percent)),
  ...given
    .filter((percent) => mode.loads.every((load) => load.percent !== percent))
    .map((percent) => ({ percent, seconds: 0.3 })),
];

buildGenerator();
const about = describe(`Scheduling: ${name}`, options);
if (sharing !== 'as-installed') console.log(`Sluice ${sharing} where nothing else is said.\n`);
for (const server of mode.servers.filter(
  (each) => options.only.length === 0 || options.only.includes(each),
)) {
  const version = contender(server).version?.();
  if (version === undefined) continue;
  about[server] = version;
  console.log(`${server.padEnd(15)} ${version}`);
}
const measured = await measure(mode, loads, options, SHARING[sharing] ?? {});
const cells = cellsOf(measured, mode.skip);
const { ms, work_per_s } = measured.costs;
const each = Object.entries(ms).map(([key, cost]) => `${key} ${short(cost)} ms`);
const carried = mode.capacity?.(options.workers);
console.log(
  `\nCPU time of a request, HTTP included: ${each.join(', ')}.\n` +
    (carried === undefined
      ? `Load is a share of ${options.workers} cores. `
      : `Load is a share of ${short(carried)} requests a second, ${mode.carries ?? ''}. `) +
    `A closed loop without a front got ${short(work_per_s)} CPU seconds a second; goodput is a share of that.\n`,
);
if (work_per_s < BUSY_BELOW * options.workers)
  console.log('Others used the machine: what follows says little.\n');
printCells(cells, measured);
const bars = judges.flatMap((judge) => judge(cells, measured));
const { runs, ...rest } = measured;
const late = runs.map(({ percent, server, round, late_p99_ms, generator_cpu }) => ({
  percent,
  server,
  round,
  late_p99_ms,
  generator_cpu,
}));
conclude(`schedule-${name}`, options, about, bars, { loads, cells, ...rest, runs: late });

function mixOf(key: string): Mix {
  const mix = MIXES[key];
  if (mix === undefined) throw new Error(`there is no mix ${key}`);
  return mix;
}
