// Whether what tasks say of their CPU time is true: the components' times add up to what their page's renders took, by another clock, and other
// pages in flight are not in them.
import { execFileSync } from 'node:child_process';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, percent, printTable, short } from '../../lib/report.ts';
import { built } from '../lib/build.ts';
import type { Account, Round } from '../lib/figures.ts';

const DIFFERENCE_MAX = 0.05;
const RUN_TIMEOUT_MS = 10 * 60_000;
const PROCESSES = 3;
const PROCESSES_QUICK = 1;
const KINDS = [
  ['one by one', 'alone'],
  ['8 in flight, one more computes', 'together'],
] as const;

export function measureTimes(options: Options): { bars: Bar[]; data: unknown } {
  const { requests = 0 } = options.numbers;
  // The optimising compiler makes other code in each process.
  const processes = options.quick ? PROCESSES_QUICK : PROCESSES;
  const rounds = Array.from({ length: processes }, () => run(requests, options.runs)).flat();

  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  printTable(
    ['pages', 'main thread, µs', 'renders, µs', 'tasks say, µs', 'a card, µs'],
    KINDS.map(([name, key]) => [
      name,
      short(of((round) => round[key].thread_us)),
      short(of((round) => median(round[key].pages.map((page) => page.renders_us)))),
      short(of((round) => median(round[key].pages.map((page) => page.tasks_us)))),
      short(of((round) => round[key].card_us)),
    ]),
  );
  return {
    bars: KINDS.map(([name, key]) =>
      bar(
        `times of a page's components against the time within its renders, pages ${name}`,
        of((round) => difference(round[key])),
      ),
    ),
    data: {
      rounds: rounds.map(({ alone, together }) => ({ alone: brief(alone), together: brief(together) })),
    },
  };
}

/** Median over the pages: the kernel interrupts some, which then passes for time of the render. */
function difference({ pages }: Account): number {
  return median(pages.map(({ tasks_us, renders_us }) => tasks_us / renders_us)) - 1;
}

function brief(account: Account): object {
  return { thread_us: account.thread_us, card_us: account.card_us, difference: difference(account) };
}

function bar(what: string, away: number): Bar {
  return {
    what,
    bar: `within ${percent(DIFFERENCE_MAX)}`,
    figure: `${away < 0 ? '−' : '+'}${percent(Math.abs(away))}`,
    met: Math.abs(away) <= DIFFERENCE_MAX,
  };
}

function run(pages: number, rounds: number): Round[] {
  const output = execFileSync(process.execPath, [built('times.mjs'), String(pages), String(rounds)], {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
    timeout: RUN_TIMEOUT_MS,
    maxBuffer: 64 * 2 ** 20,
  });
  return JSON.parse(output) as Round[];
}
