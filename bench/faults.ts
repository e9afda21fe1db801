// The cost of faults: the load matrix against four peers, and the bars of each fault for Sluice alone.
//
//   npx tsx bench/faults.ts [--mode matrix] [--quick] [--runs N] [--requests N] [--workers N] [--ms N] [--only sluice,nginx-haproxy,pm2,cluster,passenger] [--fault loop]
//   npx tsx bench/faults.ts --mode reloads|upgrade [--times N] [--load PERCENT]
//   npx tsx bench/faults.ts --mode kills [--seconds N]
//   npx tsx bench/faults.ts --mode loop [--runs N] [--requests N | --seconds N] [--load PERCENT]
//   npx tsx bench/faults.ts --mode all-killed [--runs N]
//
// The matrix: each of three loads in normal operation, during rolling reloads (one every 10 s), with a random worker killed
// every second, and with one request that never ends; `--fault losses` takes reloads and kills. The modes are described in `bench/faults/`.
import { FAULTS } from './faults/inject.ts';
import { allKilled, kills } from './faults/kills.ts';
import { loop } from './faults/loop.ts';
import { matrix } from './faults/matrix.ts';
import { reloads, upgrades } from './faults/replacements.ts';
import { buildGenerator } from './lib/load.ts';
import { type Options, cores, readOptions } from './lib/options.ts';
import { pm2Version } from './lib/pm2.ts';
import { type Bar, conclude, describe } from './lib/report.ts';

const MODES: Record<string, (options: Options) => Promise<{ bars: Bar[]; data: unknown }>> = {
  matrix,
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
  words: { mode: Object.keys(MODES), fault: ['all', 'losses', ...Object.keys(FAULTS)] },
  numbers: { requests: [10_000, 600], ms: [5, 5], seconds: [60, 8], times: [20, 3], load: [90, 90] },
});
const mode = options.words['mode'] ?? 'matrix';
buildGenerator();
const isMatrix = mode === 'matrix';
const about: Record<string, unknown> = describe(
  `Faults: ${mode}`,
  options,
  isMatrix ? ['nginx', 'haproxy'] : [],
);
if (isMatrix && (options.only.length === 0 || options.only.includes('pm2'))) {
  about['pm2'] = pm2Version();
  console.log(`PM2          ${String(about['pm2'])}\n`);
}
const { bars, data } = await (MODES[mode] ?? matrix)(options);
conclude(`faults-${mode}`, options, about, bars, data);
