// The cost of faults: equal cells of every fault through Sluice and four peers, and the bars of each fault for Sluice alone.
//
//   npx tsx bench/faults.ts [--mode cells] [--quick] [--runs N] [--only sluice,nginx-haproxy,passenger,pm2,cluster]
//     [--fault normal|kills|reload|loop] [--rate PER_SECOND] [--requests MIN] [--ms N] [--workers N] [--kills N] [--killEveryMs N]
//     [--reloads N] [--reloadEveryMs N] [--loops N] [--loopEveryMs N]
//   npx tsx bench/faults.ts --mode reloads|upgrade [--times N] [--load PERCENT]
//   npx tsx bench/faults.ts --mode kills [--seconds N]
//   npx tsx bench/faults.ts --mode loop [--runs N] [--requests N | --seconds N] [--load PERCENT]
//   npx tsx bench/faults.ts --mode all-killed [--runs N]
//
// The cells: normal operation, a random worker killed every second, rolling reloads, and requests that never end. Each server meets the same
// number of faults and the same requests at the same moments. The modes are described in `bench/faults/`.
import { cells, serversOf } from './faults/cells.ts';
import { REQUESTS_MIN } from './faults/equal.ts';
import { FAULTS } from './faults/inject.ts';
import { allKilled, kills } from './faults/kills.ts';
import { loop } from './faults/loop.ts';
import { reloads, upgrades } from './faults/replacements.ts';
import { buildGenerator } from './lib/load.ts';
import { type Options, cores, readOptions } from './lib/options.ts';
import { pm2Version } from './lib/pm2.ts';
import { type Bar, conclude, describe } from './lib/report.ts';
import { find, versionOf } from './lib/run.ts';

const MODES: Record<string, (options: Options) => Promise<{ bars: Bar[]; data: unknown }>> = {
  cells,
  reloads,
  kills,
  loop,
  'all-killed': allKilled,
  upgrade: upgrades,
};

const options = readOptions({
  runs: 1,
  runsQuick: 1,
  workers: cores,
  words: { mode: Object.keys(MODES), fault: ['all', ...Object.keys(FAULTS)] },
  numbers: {
    requests: [REQUESTS_MIN, 300],
    // A rate that every server carries on two cores, also while a loop has one of them.
    rate: [170, 170],
    ms: [4, 4],
    kills: [60, 3],
    killEveryMs: [1_000, 1_000],
    reloads: [20, 1],
    reloadEveryMs: [4_500, 4_000],
    loops: [3, 1],
    loopEveryMs: [20_000, 20_000],
    seconds: [60, 8],
    times: [20, 3],
    load: [90, 90],
  },
});
const mode = options.words['mode'] ?? 'cells';
buildGenerator();
const isOfAll = mode === 'cells';
const servers = isOfAll ? serversOf(options) : [];
const about: Record<string, unknown> = describe(
  `Faults: ${mode}`,
  options,
  servers.includes('nginx-haproxy') ? ['nginx', 'haproxy'] : [],
);
const further: [name: string, version: () => string][] = [
  ['passenger', () => versionOf(find('passenger'), '--version')],
  ['pm2', pm2Version],
];
for (const [name, version] of further.filter(([each]) => servers.includes(each))) {
  about[name] = version();
  console.log(`${name.padEnd(12)} ${String(about[name])}\n`);
}
const { bars, data } = await (MODES[mode] ?? cells)(options);
conclude(`faults-${mode}`, options, about, bars, data);
