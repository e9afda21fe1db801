// The cost that Sluice reports of each class while requests share a worker, against the cost that it reports alone: the app of
// `--mode waiting` in one worker, light and heavy requests that wait and then compute.
//
//   npx tsx bench/own-cpu.ts [--quick] [--runs N] [--seconds N] [--app timers|next]
//
// In each round and for each number of requests at once, Sluice is started anew, so that it has learned nothing else. Alone means: a
// single client asks for that class only. Together the clients ask for the mix of the classes; with one client that shows what the
// other class does to caches, compiler and heap, which is no matter of telling requests apart. Lanes are off: they would take the
// heavy ones elsewhere.
import { buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, percent, printTable, short } from './lib/report.ts';
import { startSluiceServer } from './lib/servers.ts';
import { HEAVY, LIGHT, MIXES } from './schedule/mixes.ts';

const CLASSES = [LIGHT, HEAVY];
const TOGETHER = [1, 2, 5, 10, 20];
const OFF_MAX = 0.1;

interface Learned {
  class: string;
  isAlone: boolean;
  atOnce: number;
  round: number;
  /** Mean of the class as Sluice has it, milliseconds. */
  ms: number;
  /** Answers that there were. */
  answers: number;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 1,
  words: { app: ['timers', 'next'] },
  numbers: { seconds: [20, 4] },
});
const mix = MIXES[options.words['app'] === 'next' ? 'next' : 'waiting'];
if (mix === undefined) throw new Error('there is no such mix');
buildGenerator();
const about = describe('CPU time of requests that share a worker', options);
const app = await mix.app(1);
const routes = await mix.routes('');

const learned: Learned[] = [];
for (let round = 0; round < options.runs; round++) {
  process.stderr.write(`round ${round + 1} of ${options.runs}\n`);
  for (const name of CLASSES) learned.push(...(await learn(round, 1, [name])));
  for (const atOnce of TOGETHER) learned.push(...(await learn(round, atOnce, CLASSES)));
}

const rows = CLASSES.flatMap((name) =>
  TOGETHER.map((atOnce) => ({ name, atOnce, ratio: ratioOf(name, atOnce) })),
);
printTable(
  ['class', 'at once', 'alone, ms', 'together, ms', 'ratio'],
  rows.map(({ name, atOnce, ratio }) => [
    name,
    atOnce,
    short(median(alone(name).map(({ ms }) => ms))),
    short(median(together(name, atOnce).map(({ ms }) => ms))),
    ratio.toFixed(2),
  ]),
);
conclude('own-cpu', options, about, CLASSES.flatMap(bar), { learned });

/** Costs that Sluice has learned of classes after so many of their requests at once for a while. */
async function learn(round: number, atOnce: number, classes: string[]): Promise<Learned[]> {
  const config = `[workers]\nconcurrency = ${atOnce}\nlanes = "off"\n`;
  const server = await startSluiceServer(app, { config });
  try {
    const { classes: answered } = await load({
      targets: server.targets,
      routes: routes.filter((route) => classes.includes(route.class ?? '')),
      seed: round + 1,
      mode: {
        kind: 'closed',
        connections: atOnce,
        requests: 1_000_000,
        duration_ms_max: 1_000 * (options.numbers['seconds'] ?? 0),
      },
    });
    const { stdout } = await server.sluice.cli(['classes', '--json']);
    const known = (JSON.parse(stdout) as { classes: { class: string; cost_mean_ms: number | null }[] })
      .classes;
    return classes.map((name) => {
      // As it is learned from the paths, or read off the router.
      const own = known.find((each) => each.class.includes(`/${name}/`));
      return {
        class: name,
        isAlone: classes.length === 1,
        atOnce,
        round,
        ms: own?.cost_mean_ms ?? Number.NaN,
        answers: answered[name]?.ok ?? 0,
      };
    });
  } finally {
    await server.stop();
  }
}

function alone(name: string): Learned[] {
  return learned.filter((each) => each.class === name && each.isAlone);
}

function together(name: string, atOnce: number): Learned[] {
  return learned.filter((each) => each.class === name && !each.isAlone && each.atOnce === atOnce);
}

/** The median of the rounds' ratios to the class alone. */
function ratioOf(name: string, atOnce: number): number {
  return median(together(name, atOnce).map(({ ms, round }) => ms / (alone(name)[round]?.ms ?? Number.NaN)));
}

/** Bar for the concurrency that is furthest off; one at which nothing was learned is further than any. */
function bar(name: string): Bar[] {
  const all = TOGETHER.map((atOnce) => ({ atOnce, off: Math.abs(ratioOf(name, atOnce) - 1) }));
  const unknown = all.filter(({ off }) => Number.isNaN(off)).map(({ atOnce }) => atOnce);
  const worst = all.reduce((a, b) => (b.off > a.off ? b : a));
  return [
    {
      what: `${name}: CPU time of the class together, against alone`,
      bar: `within ${percent(OFF_MAX)}`,
      figure:
        unknown.length > 0
          ? `not known at ${unknown.join(', ')} at once`
          : `furthest at ${worst.atOnce} at once: ${ratioOf(name, worst.atOnce).toFixed(2)}`,
      met: unknown.length === 0 && worst.off <= OFF_MAX,
    },
  ];
}
