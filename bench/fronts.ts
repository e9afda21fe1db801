// Threads for connections (`server.fronts`): requests a second and CPU time of the gateway, for kept pages and for small renders, with
// one thread and with several.
//
//   npx tsx bench/fronts.ts [--quick] [--runs N] [--workers N] [--hits N] [--renders N] [--fronts N] [--connections N]
//
// All gateways run at the same time and take turns; figures are medians over the rounds. Where the load generator, the workers and the
// gateway have only two cores between them, more threads can show no gain: the figures say what a hop between threads costs, and the
// bar is about that alone.
import { fileURLToPath } from 'node:url';
import { buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';

/** Minimum share of one thread's requests per second that two threads keep, with a core for each or not. */
const KEPT_MIN = 0.8;

const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: Math.max(1, Math.floor(cores / 2)),
  numbers: { hits: [100_000, 10_000], renders: [20_000, 2_000], fronts: [2, 2], connections: [32, 32] },
});
const { hits = 0, renders = 0, fronts = 0, connections = 0 } = options.numbers;
buildGenerator();
const about = describe('Threads for connections', options);

const entry = fileURLToPath(new URL('apps/cache.cjs', import.meta.url));
const KINDS = {
  hit: { path: '/page?bytes=2048', requests: hits },
  render: { path: '/render?ms=0', requests: renders },
};
type Kind = keyof typeof KINDS;

interface Measured {
  kind: Kind;
  threads: number;
  perS: number;
  cpuUs: number;
  p99: number;
  failures: number;
}

const config = '[cache]\nenabled = true\n';
const threads = [1, fronts];
const servers: SluiceServer[] = [];
const measured: Measured[] = [];
try {
  for (const count of threads) {
    const env = { SLUICE_SERVER_FRONTS: String(count) };
    servers.push(await startSluiceServer({ entry, workers: options.workers }, { config, env }));
  }
  for (let round = -1; round < options.runs; round++) {
    for (const kind of ['hit', 'render'] as const) {
      for (let turn = 0; turn < servers.length; turn++) {
        const at = (turn + round + 1) % servers.length;
        const [server, count] = [servers[at], threads[at]];
        if (server === undefined || count === undefined) continue;
        const one = await measure(server, count, kind, round < 0);
        // The round before the first fills the cache and has the page granted.
        if (round >= 0) measured.push(one);
      }
    }
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

async function measure(
  server: SluiceServer,
  count: number,
  kind: Kind,
  isWarmUp: boolean,
): Promise<Measured> {
  const { path, requests } = KINDS[kind];
  const meter = cpuMeter([server.gatewayPid]);
  const result = await load({
    targets: server.targets,
    routes: [{ path }],
    mode: { kind: 'closed', connections, requests: isWarmUp ? Math.ceil(requests / 10) : requests },
  });
  return {
    kind,
    threads: count,
    perS: result.ok / result.elapsed_s,
    cpuUs: (sum(meter()) / result.ok) * 1e6,
    p99: result.latency_ms.p99 ?? Number.NaN,
    failures: result.failed + result.refused,
  };
}

const of = (kind: Kind, count: number, figure: (one: Measured) => number): number =>
  median(measured.filter((one) => one.kind === kind && one.threads === count).map(figure));
const cells = (kind: Kind) =>
  threads.map((count) => [
    kind,
    count,
    short(of(kind, count, (one) => one.perS)),
    short(of(kind, count, (one) => one.cpuUs)),
    short(of(kind, count, (one) => one.p99)),
    sum(measured.filter((one) => one.kind === kind && one.threads === count).map((one) => one.failures)),
  ]);
printTable(
  ['request', 'fronts', 'req/s', 'gateway CPU µs/req', 'p99 ms', 'failures'],
  [...cells('hit'), ...cells('render')],
);
const bars = (['hit', 'render'] as const).map((kind) => {
  const kept = of(kind, fronts, (one) => one.perS) / of(kind, 1, (one) => one.perS);
  return {
    what: `requests a second of a ${kind} with ${fronts} threads, of those with one`,
    bar: `≥ ${percent(KEPT_MIN)}`,
    figure: percent(kept),
    met: kept >= KEPT_MIN,
  };
});
conclude('fronts', options, about, bars, { measured });
