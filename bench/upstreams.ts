// Requests of an upstream route, against HAProxy in front of the same servers: requests per CPU second of the front.
//
//   npx tsx bench/upstreams.ts [--quick] [--runs N] [--requests N] [--workers N]
//
// Both fronts have one thread, keep their connections to two Node processes that both of them share, choose the less occupied one, and log
// nothing. In each round each front gets the same load in turn, the other idle. Sluice's own worker gets no request.
import fs from 'node:fs';
import { app as fixture } from '../tests/support/sluice.ts';
import { type LoadResult, buildGenerator, load } from './lib/load.ts';
import { runHaproxy } from './lib/fronts.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, printTable, short, sum } from './lib/report.ts';
import { local, pidOf, stopAll } from './lib/run.ts';
import { startNodes, startSluiceServer } from './lib/servers.ts';

const CLIENTS = [8, 32, 128];

interface Front {
  name: string;
  target: string;
  pids: number[];
}

interface Run {
  front: string;
  clients: number;
  round: number;
  load: LoadResult;
  cpuS: number;
  /** Part in the kernel. */
  systemS: number;
}

const options = readOptions({ runs: 5, runsQuick: 1, workers: 2, numbers: { requests: [30_000, 2_000] } });
const { requests = 0 } = options.numbers;
buildGenerator();
const about = describe('Upstreams: Sluice and HAProxy before the same servers', options, ['haproxy']);

const entry = fixture('trivial.js');
const nodes = await startNodes({ entry, workers: options.workers });
const config = `[[upstreams.routes]]
name = "trivial"
paths = ["/*"]
to = ${JSON.stringify(nodes.ports.map((port) => `http://127.0.0.1:${port}`))}
connections_max = 1000
`;
const sluice = await startSluiceServer({ entry, workers: 1 }, { config });
const haproxy = await runHaproxy(nodes.ports, [], 'leastconn');
const fronts: Front[] = [
  { name: 'Sluice', target: sluice.targets[0] ?? '', pids: sluice.frontPids },
  { name: 'HAProxy', target: local(haproxy.port), pids: [pidOf(haproxy.child)] },
];
const runs: Run[] = [];
try {
  for (const { target } of fronts) await ask(target, 13, Math.ceil(requests / 10));
  for (let round = 0; round < options.runs; round++) {
    for (const clients of CLIENTS) {
      const order = round % 2 === 0 ? fronts : fronts.toReversed();
      for (const front of order) runs.push(await measure(front, clients, round));
    }
  }
} finally {
  await sluice.stop();
  await stopAll([haproxy.child]);
  await nodes.stop();
}

const of = (front: string, clients: number): Run[] =>
  runs.filter((run) => run.front === front && run.clients === clients);
const perCpuSecond = ({ load: { ok }, cpuS }: Run): number => ok / cpuS;
printTable(
  [
    'at once',
    'front',
    'failures',
    'p50 ms',
    'p99 ms',
    'req/s',
    'req per front CPU s',
    'µs user',
    'µs system',
  ],
  CLIENTS.flatMap((clients) =>
    fronts.map(({ name }) => {
      const group = of(name, clients);
      const answers = sum(group.map((run) => run.load.ok));
      const us = (figure: (run: Run) => number): number => (sum(group.map(figure)) / answers) * 1e6;
      return [
        clients,
        name,
        sum(group.map(({ load: { failed, refused } }) => failed + refused)),
        short(median(group.map((run) => run.load.latency_ms.p50 ?? Number.NaN))),
        short(median(group.map((run) => run.load.latency_ms.p99 ?? Number.NaN))),
        short(median(group.map((run) => run.load.ok / run.load.elapsed_s))),
        short(answers / sum(group.map((run) => run.cpuS))),
        short(us((run) => run.cpuS - run.systemS)),
        short(us((run) => run.systemS)),
      ];
    }),
  ),
);
const bars: Bar[] = CLIENTS.map((clients) => {
  const ratios = of('Sluice', clients).map((own) => {
    const peer = of('HAProxy', clients).find(({ round }) => round === own.round);
    return peer === undefined ? Number.NaN : perCpuSecond(own) / perCpuSecond(peer);
  });
  const ratio = median(ratios);
  const what = `${clients} clients: requests per CPU second of the front, against HAProxy`;
  return { what, bar: '≥ 1', figure: `${ratio.toFixed(2)}×`, met: ratio >= 1 };
});
const failed = sum(runs.map(({ load: result }) => result.failed + result.refused));
bars.push({ what: 'failed requests', bar: '0', figure: String(failed), met: failed === 0 });
conclude('upstreams', options, about, bars, { runs });

async function ask(target: string, connections: number, count: number, seed = 99): Promise<LoadResult> {
  const routes = [{ path: '/' }];
  return load({ targets: [target], routes, seed, mode: { kind: 'closed', connections, requests: count } });
}

/** CPU seconds of a process in the kernel, in ticks of 10 ms. */
function systemS(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[12]) / 100;
}

async function measure(front: Front, clients: number, round: number): Promise<Run> {
  const system = (): number => sum(front.pids.map(systemS));
  const [meter, before] = [cpuMeter(front.pids), system()];
  const result = await ask(front.target, clients, requests, round + 1);
  return {
    front: front.name,
    clients,
    round,
    load: result,
    cpuS: sum(meter()),
    systemS: system() - before,
  };
}
