// What the front costs in throughput when rendering is the work: a render of 5 ms of CPU through Sluice, against the same
// number of Node processes without a front, whose ports the clients use directly.
//
//   npx tsx bench/render5ms.ts [--quick] [--runs N] [--workers N] [--requests N] [--ms N] [--connections N]
//
// Both get the same closed loop with enough connections to keep every process busy, in turn, first one and then the other
// ahead. Throughput is answers over elapsed time; the figure is the median over the rounds of Sluice's over the direct one.
import { app } from '../tests/support/sluice.ts';
import { buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type Server, startDirect, startSluiceServer } from './lib/servers.ts';

const options = readOptions({
  runs: 7,
  runsQuick: 3,
  workers: cores,
  numbers: { requests: [4_000, 500], ms: [5, 5], connections: [8 * cores, 8 * cores] },
});
const { requests = 0, ms = 0, connections = 0 } = options.numbers;
buildGenerator();
const about = describe(`Throughput of a ${ms} ms render`, options);
console.log(
  `${options.workers} Node processes; ${connections} connections, kept; ${requests} requests a round.\n`,
);

const serving = { entry: app('spin.js'), workers: options.workers };
const direct = await startDirect(serving);
const sluice = await startSluiceServer(serving);
const rounds: { direct: Throughput; sluice: Throughput }[] = [];
try {
  for (const server of [direct, sluice]) await throughput(server, Math.ceil(requests / 5));
  for (let round = 0; round < options.runs; round++) {
    if (round % 2 === 0) {
      rounds.push({ direct: await throughput(direct, requests), sluice: await throughput(sluice, requests) });
    } else {
      const first = await throughput(sluice, requests);
      rounds.push({ direct: await throughput(direct, requests), sluice: first });
    }
  }
} finally {
  await Promise.all([direct.stop(), sluice.stop()]);
}

interface Throughput {
  perSecond: number;
  p50: number;
  p99: number;
  failures: number;
  frontCpuShare: number;
}

async function throughput(server: Server, count: number): Promise<Throughput> {
  const front = cpuMeter(server.frontPids);
  const result = await load({
    targets: server.targets,
    routes: [{ path: `/spin?ms=${ms}` }],
    mode: { kind: 'closed', connections, requests: count },
  });
  return {
    perSecond: result.ok / result.elapsed_s,
    p50: result.latency_ms.p50 ?? Number.NaN,
    p99: result.latency_ms.p99 ?? Number.NaN,
    failures: result.failed + result.refused,
    frontCpuShare: sum(front()) / result.elapsed_s,
  };
}

const rows = (['direct', 'sluice'] as const).map((name) => {
  const all = rounds.map((round) => round[name]);
  return [
    name === 'direct' ? direct.name : sluice.name,
    short(median(all.map((each) => each.perSecond))),
    short(median(all.map((each) => each.p50))),
    short(median(all.map((each) => each.p99))),
    sum(all.map((each) => each.failures)),
    percent(median(all.map((each) => each.frontCpuShare))),
  ];
});
printTable(['server', 'req/s', 'p50 ms', 'p99 ms', 'failures', 'front, of one core'], rows);
const ratios = rounds.map((round) => round.sluice.perSecond / round.direct.perSecond);
const ratio = median(ratios);
console.log(`Ratio in each round: ${ratios.map(percent).join(', ')}\n`);
const bar = {
  what: `throughput of a ${ms} ms render`,
  bar: '≥ 97 %',
  figure: percent(ratio),
  met: ratio >= 0.97,
};
conclude('render5ms', options, about, [bar], { ratios, rounds });
