// The cost of profiles of slow requests on the storefront: throughput of a closed loop with `profile.tail` off, sampled and on, in turns.
//
//   npx tsx bench/tail-profiles.ts [--quick] [--runs N] [--requests N]
//
// The storefront's own tail arms its classes, so that requests are profiled all the time; how many were is printed.
import { type Route, buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const MODES = ['off', 'sampled', 'on'] as const;
const COST_MAX = 0.02;
const CONNECTIONS = 8;

type Figures = Record<(typeof MODES)[number], number>;

const options = readOptions({ runs: 7, runsQuick: 3, workers: 2, numbers: { requests: [8_000, 2_000] } });
const { requests = 0 } = options.numbers;
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Profiles of slow requests', options);
const servers: [(typeof MODES)[number], SluiceServer][] = [];
const rounds: Figures[] = [];
const kept: Figures = { off: 0, sampled: 0, on: 0 };
try {
  for (const mode of MODES) {
    const env = { SLUICE_PROFILE_TAIL: mode };
    servers.push([
      mode,
      await startSluiceServer({ entry: storefrontEntry, workers: options.workers }, { env }),
    ]);
  }
  const routes = await storefrontRoutes(servers[0]?.[1].targets[0] ?? '');
  for (const [, server] of servers) await perCpuSecond(server, routes, 99);
  for (let round = 0; round < options.runs; round += 1) {
    const figure: Figures = { off: 0, sampled: 0, on: 0 };
    for (const [mode, server] of round % 2 === 0 ? servers : servers.toReversed())
      figure[mode] = await perCpuSecond(server, routes, round + 1);
    rounds.push(figure);
  }
  for (const [mode, server] of servers) {
    const { stdout } = await server.sluice.cli(['profile', '--tail', '--json']);
    kept[mode] = (JSON.parse(stdout) as unknown[]).length;
  }
} finally {
  await Promise.all(servers.map(([, server]) => server.stop()));
}
printTable(
  ['storefront, req/CPU s of the workers', ...MODES, 'sampled / off', 'on / off'],
  rounds.map((each, at) => [
    `round ${at + 1}`,
    ...MODES.map((mode) => short(each[mode])),
    (each.sampled / each.off).toFixed(3),
    (each.on / each.off).toFixed(3),
  ]),
);
console.log(`profiles kept: ${MODES.map((mode) => `${mode} ${kept[mode]}`).join(', ')}`);
const cost = 1 - median(rounds.map((each) => each.sampled / each.off));
const costOn = 1 - median(rounds.map((each) => each.on / each.off));
conclude(
  'tail-profiles',
  options,
  about,
  [
    {
      what: `cost of profiling slow requests, sampled, requests per CPU second of the workers (on: ${percent(costOn)})`,
      bar: `≤ ${percent(COST_MAX)}`,
      figure: percent(cost),
      met: cost <= COST_MAX,
    },
  ],
  { rounds, kept },
);

async function perCpuSecond(server: SluiceServer, routes: Route[], seed: number): Promise<number> {
  const meter = cpuMeter(await server.workerPids());
  const { ok, failed, refused } = await load({
    targets: server.targets,
    routes,
    seed,
    mode: { kind: 'closed', connections: CONNECTIONS, requests },
  });
  if (failed + refused > 0) throw new Error(`${failed + refused} requests failed`);
  return ok / sum(meter());
}
