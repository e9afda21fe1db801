// Memory of the gateway: idle, and with thousands of idle keep-alive connections.
//
//   npx tsx bench/memory.ts [--quick] [--runs N] [--workers N] [--connections N]
//
// Every run starts a new gateway. The figure is the resident set (VmRSS) of the gateway's process, the largest over the
// runs; of it, what no file backs (RssAnon) is told too. Each connection makes one request before it falls silent.
import { app } from '../tests/support/sluice.ts';
import { buildGenerator, startLoad } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { memory } from './lib/processes.ts';
import { conclude, describe, mebibytes, printTable } from './lib/report.ts';
import { startSluiceServer } from './lib/servers.ts';

const IDLE_MB_MAX = 25;
const CONNECTIONS_MB_MAX = 60;

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: cores,
  numbers: { connections: [5_000, 5_000], settleMs: [5_000, 2_000] },
});
const { connections = 0, settleMs = 0 } = options.numbers;
buildGenerator();
const about = describe('Memory of the gateway', options);

type Memory = ReturnType<typeof memory>;
const runs: { idle: Memory; connected: Memory; open: number; afterwards: Memory }[] = [];
for (let run = 0; run < options.runs; run++) {
  const server = await startSluiceServer({ entry: app('trivial.js'), workers: options.workers });
  try {
    const settled = async (): Promise<Memory> => {
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      return memory(server.gatewayPid);
    };
    const idle = await settled();
    const crowd = startLoad({
      targets: server.targets,
      routes: [{ path: '/' }],
      mode: { kind: 'hold', connections, duration_ms_max: 300_000 },
    });
    await crowd.ready;
    const connected = await settled();
    const { extra } = await crowd.stop();
    runs.push({ idle, connected, open: extra.open_at_end ?? 0, afterwards: await settled() });
  } finally {
    await server.stop();
  }
}

const show = ({ rssBytes, anonBytes }: Memory) => `${mebibytes(rssBytes)} (${mebibytes(anonBytes)})`;
printTable(
  ['run', 'idle: RSS (anonymous)', 'with connections', 'open connections', 'after they left'],
  runs.map(({ idle, connected, open, afterwards }, at) => [
    at + 1,
    show(idle),
    show(connected),
    open,
    show(afterwards),
  ]),
);
const largest = (which: 'idle' | 'connected') =>
  Math.max(...runs.map((run) => run[which].rssBytes)) / 2 ** 20;
const allOpen = runs.every(({ open }) => open === connections);
conclude(
  'memory',
  options,
  about,
  [
    {
      what: 'gateway memory, idle',
      bar: `≤ ${IDLE_MB_MAX} MB`,
      figure: `${largest('idle').toFixed(1)} MB`,
      met: largest('idle') <= IDLE_MB_MAX,
    },
    {
      what: `gateway memory, ${connections} idle connections`,
      bar: `≤ ${CONNECTIONS_MB_MAX} MB`,
      figure: `${largest('connected').toFixed(1)} MB${allOpen ? '' : ', but not all connections stayed open'}`,
      met: allOpen && largest('connected') <= CONNECTIONS_MB_MAX,
    },
  ],
  { runs },
);
