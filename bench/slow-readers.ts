// Thousands of clients that ask for a page and do not read it, before a gateway that has 256 MB, while others want to be served.
//
//   npx tsx bench/slow-readers.ts [--quick] [--runs N] [--workers N] [--slow N] [--pageKb N] [--receiveKb N] [--limitMb N]
//     [--comePerS N] [--ratePerWorker N] [--seconds N] [--ms N]
//
// The gateway and its guardian run in a memory cgroup of that size; the workers are started outside of it. Where this user
// may not make one, the gateway's resident set is held against the limit. The others are an open loop with the same seed
// without the slow ones, while they come, while they are there and while they leave. The bar is for while they are there:
// while they come, the workers render their pages too, and others wait for that with any server.
import path from 'node:path';
import { app, repositoryDir } from '../tests/support/sluice.ts';
import { MemoryCgroup, type Usage, needed } from './lib/cgroup.ts';
import {
  type LoadResult,
  type RunningLoad,
  type SlowGroupResult,
  buildGenerator,
  startLoad,
} from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { memory } from './lib/processes.ts';
import { conclude, describe, mebibytes, median, printTable, short, sum } from './lib/report.ts';
import { sample } from './lib/sample.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';

const TIMES_MAX = 2;
const PHASES = ['without', 'coming', 'there', 'leaving'] as const;
type Phase = (typeof PHASES)[number];

interface Round {
  others: Record<Phase, LoadResult>;
  slow: SlowGroupResult | undefined;
  most: Record<'coming' | 'there', Usage>;
  afterwards: Usage;
  tempBytes: number;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: Math.max(1, cores - 1),
  numbers: {
    slow: [5_000, 500],
    pageKb: [950, 950],
    receiveKb: [64, 64],
    limitMb: [256, 256],
    comePerS: [100, 100],
    ratePerWorker: [80, 80],
    seconds: [20, 4],
    ms: [5, 5],
  },
});
const {
  slow = 0,
  pageKb = 0,
  receiveKb = 0,
  limitMb = 0,
  comePerS = 0,
  ratePerWorker = 0,
  seconds = 0,
  ms = 0,
} = options.numbers;
const rate = ratePerWorker * options.workers;
const limitBytes = limitMb * 2 ** 20;
// Without the process of Node.js that starts the binary, which would be in the cgroup too.
process.env['SLUICE_BINARY'] ??= path.join(repositoryDir, 'gateway/target/release/sluice');
buildGenerator();
const about = describe('Clients that do not read', options);
const made = MemoryCgroup.make(limitBytes);
const cgroup = typeof made === 'string' ? undefined : made;
console.log(
  `${slow} clients that ask for ${pageKb} KB and do not read; the others: ${rate} requests a second of ${ms} ms of CPU each.`,
);
console.log(
  typeof made === 'string'
    ? `No memory cgroup could be made (${made}): the resident set is held against ${limitMb} MB instead.\n`
    : `The gateway and its guardian are in a memory cgroup (version ${made.version}) of ${limitMb} MB, the workers outside.\n`,
);

const server = await start();
const usage = (): Usage =>
  cgroup?.usage() ?? { anon: memory(server.gatewayPid).rssBytes, file: 0, kernel: 0, tcp: 0 };
const rounds: Round[] = [];
let survived = false;
let peak = cgroup?.peak();
let members: number[] = [];
try {
  await others(0, 2).result;
  for (let round = 0; round < options.runs; round++) rounds.push(await oneRound(round));
  members = cgroup?.members ?? [];
  survived = server.sluice.running && (await server.sluice.gatewayPid()) === server.gatewayPid;
  peak = cgroup?.peak();
} finally {
  await server.stop();
  await cgroup?.remove();
}

async function start(): Promise<SluiceServer> {
  const entry = app('spin.js');
  return startSluiceServer(
    { entry, workers: options.workers },
    {
      ...(cgroup === undefined
        ? {}
        : { through: cgroup.enter, command: [...cgroup.leave, process.execPath, entry] }),
      env: {
        // They are to be there for as long as is measured, and all of what they asked for with them.
        SLUICE_SERVER_SEND_TIMEOUT_MS: '3600000',
        SLUICE_TEMP_BYTES_MAX: String(slow * pageKb * 1024 * 2),
        ...(cgroup === undefined ? { SLUICE_MEMORY_BUFFERS_BYTES_MAX: String(limitBytes / 8) } : {}),
      },
    },
  );
}

async function oneRound(round: number): Promise<Round> {
  const without = await others(round, seconds).result;
  const coming = others(round, 600);
  const looksComing = sample(usage, 100);
  const crowd = startLoad({
    targets: server.targets,
    mode: {
      kind: 'slow',
      groups: [
        {
          slow: 'read',
          connections: slow,
          interval_ms: 3_600_000,
          bytes: 16,
          receive_buffer_bytes: receiveKb * 1024,
          path: `/big?bytes=${pageKb * 1024}`,
        },
      ],
      connections_per_s: comePerS,
      duration_ms_max: 3_600_000,
    },
  });
  await crowd.ready;
  const whileComing = await coming.stop();
  await looksComing.stop();
  await pause(3_000);
  const looksThere = sample(usage, 100);
  const there = await others(round, seconds).result;
  await looksThere.stop();
  const tempBytes = await tempBytesNow();
  const leaving = others(round, 5);
  await pause(500);
  const { extra } = await crowd.stop();
  const whileLeaving = await leaving.result;
  await pause(10_000);
  const most = (looks: { samples: { value: Usage }[] }): Usage =>
    looks.samples.map(({ value }) => value).reduce((a, b) => (needed(b) > needed(a) ? b : a));
  return {
    others: { without, coming: whileComing, there, leaving: whileLeaving },
    slow: extra.groups?.[0],
    most: { coming: most(looksComing), there: most(looksThere) },
    afterwards: usage(),
    tempBytes,
  };
}

function others(round: number, forSeconds: number): RunningLoad {
  return startLoad({
    targets: server.targets,
    routes: [{ path: `/spin?ms=${ms}` }],
    seed: round + 1,
    mode: {
      kind: 'open',
      rate_per_s: rate,
      duration_ms: forSeconds * 1000,
      requests_max: Math.ceil(rate * forSeconds * 2),
    },
  });
}

async function tempBytesNow(): Promise<number> {
  const text = await (await fetch(`${server.sluice.admin}/metrics`)).text();
  return Number(/^sluice_temp_bytes (\d+)/m.exec(text)?.[1] ?? 0);
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

const p = (round: Round, phase: Phase, which: 'p50' | 'p99') =>
  round.others[phase].latency_ms[which] ?? Number.NaN;
const ratio = (phase: Phase) =>
  median(rounds.map((round) => p(round, phase, 'p99') / p(round, 'without', 'p99')));
printTable(
  ['slow clients', 'p50 ms', 'p99 ms', 'p99 to without', 'refused', 'failed'],
  PHASES.map((phase) => [
    phase,
    short(median(rounds.map((round) => p(round, phase, 'p50')))),
    short(median(rounds.map((round) => p(round, phase, 'p99')))),
    `${ratio(phase).toFixed(2)}×`,
    sum(rounds.map((round) => round.others[phase].refused)),
    sum(rounds.map((round) => round.others[phase].failed)),
  ]),
);
const parts = (usage: Usage) =>
  [needed(usage), usage.anon, usage.kernel, usage.tcp, usage.file].map((bytes) => mebibytes(bytes));
printTable(
  [
    'round',
    'memory, most',
    'all but cache',
    cgroup === undefined ? 'resident' : 'anonymous',
    'kernel',
    'TCP',
    'page cache',
  ],
  rounds.flatMap(({ most, afterwards }, at) => [
    [at + 1, 'coming', ...parts(most.coming)],
    [at + 1, 'there', ...parts(most.there)],
    [at + 1, '10 s after', ...parts(afterwards)],
  ]),
);
printTable(
  ['round', 'wanted', 'opened', 'open at the end', 'closed by the server', 'answered with', 'in files'],
  rounds.map(({ slow: group, tempBytes }, at) => [
    at + 1,
    slow,
    group?.opened ?? 0,
    group?.open_at_end ?? 0,
    group?.closed_by_server ?? 0,
    JSON.stringify(group?.statuses),
    mebibytes(tempBytes),
  ]),
);
if (peak !== undefined)
  console.log(
    `Most that the cgroup held, page cache included: ${mebibytes(peak.bytes)}; killed by the kernel: ${peak.kills}; processes in it: ${members.length}\n`,
  );

const mostNeeded = Math.max(...rounds.flatMap(({ most }) => [needed(most.coming), needed(most.there)]));
const allThere = rounds.every(({ slow: group }) => group?.open_at_end === slow && group.opened === slow);
const lives = survived && (peak?.kills ?? 0) === 0 && allThere && mostNeeded <= limitBytes;
conclude(
  'slow-readers',
  options,
  about,
  [
    {
      what: `the gateway in ${limitMb} MB with ${slow} clients that do not read`,
      bar: 'lives',
      figure: `${survived ? 'lives' : 'died'}${allThere ? '' : ', not all clients stayed'}, at most ${mebibytes(mostNeeded)} without cache`,
      met: lives,
    },
    {
      what: 'p99 of the others while they are there',
      bar: `≤ ${TIMES_MAX}×`,
      figure: `${ratio('there').toFixed(2)}×`,
      met: ratio('there') <= TIMES_MAX,
    },
  ],
  { rounds, peak },
);
