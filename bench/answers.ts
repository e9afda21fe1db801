// No byte of one request's answer reaches another (I10): a million answers beside an app that makes every mistake, with
// clients that give up, reloads and killed workers.
//
//   npx tsx bench/answers.ts [--quick] [--requests N] [--innocents N] [--faulty N] [--workers N] [--seed N] [--only strict,waiting]
//
// Every request has a canary and its answer repeats only that (`tests/support/canaries.ts`), so that each byte of each answer is
// looked at. The answers are shared out among the modes. An error on the way to an innocent client is no byte of others, but is
// listed by its kind: a kill may cost a POST its answer, and a queue without a worker is refused.
import { setTimeout as wait } from 'node:timers/promises';
import { type Tally, runChaos, spoiled } from '../tests/support/canaries.ts';
import { type Sluice, type StartOptions, app, startSluice } from '../tests/support/sluice.ts';
import { kill9 } from './faults/inject.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, printTable, sum } from './lib/report.ts';

const KILL_EVERY_MS = 2_000;
const RELOAD_EVERY_MS = 10_000;
const ABORTS = 0.03;
/** Mistakes that are never answered would hold a worker for minutes. */
const SOON = {
  SLUICE_LOG_ACCESS: 'false',
  SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '400',
};

const withPreload: StartOptions = { entry: app('faulty.js') };
const without: StartOptions = {
  command: ['env', '-u', 'NODE_OPTIONS', 'OWN_SOCKET=1', process.execPath, app('faulty.js')],
};
const MODES: Record<string, StartOptions> = {
  strict: { ...withPreload, flags: ['--concurrency', '1'] },
  waiting: { ...withPreload, flags: ['--concurrency', 'while-waiting'] },
  four: { ...withPreload, flags: ['--concurrency', '4'] },
  'strict-no-preload': { ...without, flags: ['--concurrency', '1'] },
  'waiting-no-preload': { ...without, flags: ['--concurrency', 'while-waiting'] },
  'four-no-preload': { ...without, flags: ['--concurrency', '4'] },
};

interface Run {
  mode: string;
  tally: Tally;
  kills: number;
  reloads: number;
  elapsed_s: number;
}

const options = readOptions({
  runs: 1,
  runsQuick: 1,
  workers: Math.max(4, cores),
  numbers: {
    requests: [1_000_000, 6_000],
    innocents: [16, 16],
    // More of them cost so many workers that most of the time nobody is there to answer.
    faulty: [1, 4],
    seconds: [1_200, 15],
    seed: [1, 1],
  },
});
const { requests = 0, innocents = 0, faulty = 0, seconds = 0, seed = 1 } = options.numbers;
const modes = Object.keys(MODES).filter((mode) => options.only.length === 0 || options.only.includes(mode));
if (modes.length === 0) throw new Error(`--only takes ${Object.keys(MODES).join(', ')}`);
const about = describe('Bytes of others', options);
console.log(
  `${requests} answers in ${modes.length} modes; ${innocents} who ask for pages, ${faulty} for mistakes; ${ABORTS * 100} % given up;` +
    ` a worker killed every ${KILL_EVERY_MS / 1_000} s, a reload every ${RELOAD_EVERY_MS / 1_000} s.\n`,
);

const runs: Run[] = [];
for (const mode of modes) runs.push(await measured(mode, Math.ceil(requests / modes.length)));

console.log('');
printTable(
  [
    'mode',
    'answers',
    'a second',
    'of innocents',
    'whole',
    'given up',
    "others' bytes",
    "nobody's bytes",
    'kills',
    'reloads',
  ],
  runs.map(({ mode, tally, kills, reloads, elapsed_s }) => [
    mode,
    tally.answers,
    Math.round(tally.answers / elapsed_s),
    sum(Object.values(tally.innocents)),
    tally.innocents['whole'] ?? 0,
    tally.givenUp,
    tally.others,
    tally.strange,
    kills,
    reloads,
  ]),
);
for (const { mode, tally } of runs) {
  const refused = Object.entries(tally.innocents).filter(([kind]) => kind.startsWith('503 '));
  console.log(
    `${mode}: innocents refused ${kindsOf(Object.fromEntries(refused))}; failed ${kindsOf(spoiled(tally))}`,
  );
  console.log(`${' '.repeat(mode.length)}  mistakes ${kindsOf(tally.faulty)}`);
  for (const example of tally.examples) console.log(`  ${example}`);
}
console.log('');

const checked = sum(runs.map(({ tally }) => tally.answers));
const others = sum(runs.map(({ tally }) => tally.others));
const strange = sum(runs.map(({ tally }) => tally.strange));
const bars: Bar[] = [
  { what: 'answers looked at', bar: `≥ ${requests}`, figure: String(checked), met: checked >= requests },
  { what: "answers with others' bytes", bar: '0', figure: String(others), met: others === 0 },
  { what: "answers with nobody's bytes", bar: '0', figure: String(strange), met: strange === 0 },
];
conclude('answers', options, about, bars, { runs });

async function measured(mode: string, answers: number): Promise<Run> {
  const sluice = await startSluice({ ...MODES[mode], workers: options.workers, env: SOON });
  const begun_ms = performance.now();
  const faults = disturb(sluice);
  try {
    const tally = await runChaos({
      port: sluice.port,
      answers,
      duration_ms_max: seconds * 1_000,
      innocents,
      faulty,
      aborts: ABORTS,
      seed,
      onProgress: ({ answers: so_far, others, strange }) => {
        if (so_far % 50_000 === 0)
          console.log(`${mode}: ${so_far} answers, ${others + strange} with others' bytes`);
      },
    });
    const elapsed_s = (performance.now() - begun_ms) / 1_000;
    return { mode, tally, elapsed_s, ...(await faults.stop()) };
  } finally {
    await faults.stop();
    await sluice.stop();
  }
}

/** Kills and reloads, one after the other, until stopped. A reload that is given up counts as none. */
function disturb(sluice: Sluice): { stop(): Promise<{ kills: number; reloads: number }> } {
  const done = { kills: 0, reloads: 0 };
  let isOver = false;
  const loop = async (): Promise<void> => {
    let reload_at_ms = performance.now() + RELOAD_EVERY_MS / 2;
    let kill_at_ms = performance.now() + KILL_EVERY_MS;
    while (!isOver) {
      await wait(50);
      if (performance.now() > kill_at_ms) {
        kill_at_ms = performance.now() + KILL_EVERY_MS;
        const pids = (await sluice.status()).workers.flatMap(({ pid }) => (pid === null ? [] : [pid]));
        const victim = pids[Math.floor(Math.random() * pids.length)];
        if (victim !== undefined && kill9(victim)) done.kills += 1;
      }
      if (performance.now() > reload_at_ms) {
        reload_at_ms = performance.now() + RELOAD_EVERY_MS;
        if ((await sluice.cli(['reload'])).code === 0) done.reloads += 1;
      }
    }
  };
  const running = loop();
  // Looked at in `stop`, which may be later.
  running.catch(() => undefined);
  return {
    stop: async () => {
      isOver = true;
      await running;
      return done;
    },
  };
}

function kindsOf(kinds: Record<string, number>): string {
  const sorted = Object.entries(kinds).sort(([, one], [, other]) => other - one);
  return sorted.map(([kind, times]) => `${times} × ${kind}`).join(', ') || 'none';
}
