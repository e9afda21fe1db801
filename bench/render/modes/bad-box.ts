// One bad box of 60: whether the other 59 are in the HTML, and what it does to the page's p95.
import net from 'node:net';
import { once } from 'node:events';
import { freePort } from '../../../tests/support/ports.ts';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, printTable, short, sum } from '../../lib/report.ts';
import type { Server } from '../../lib/servers.ts';
import { latency, type Latency, throughput } from '../lib/measure.ts';
import { fetchListing, listingIn } from '../lib/same.ts';
import { sluice } from '../lib/servers.ts';
import { FAULTS } from '../sluice/bad.ts';

const SLOWER_MAX = 1.1;
/** Fewer tell nothing: a machine has bad moments, which a median of so many leaves out. */
const ROUNDS_MIN = 5;
/** All measurements together, so that the mode ends within six minutes with its builds and its warm-up. */
const MEASURED_S_MAX = 240;
/** Share of its throughput at which latencies are taken. */
const LOAD = 0.3;
const SEED_OF_WARM_UP = 99;
const GOOD = 'nothing';

export async function measureBadBox(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const { requests = 0, connections = 0, seconds = 0 } = options.numbers;
  const roundCount = Math.max(ROUNDS_MIN, options.runs);
  const duration_ms = Math.floor(
    1000 * Math.min(seconds, MEASURED_S_MAX / (roundCount * (FAULTS.length + 1))),
  );
  const silent = await startSilent();
  const servers: [string, Server][] = [];
  const rounds: Map<string, Latency>[] = [];
  const whole = new Map<string, boolean>();
  let rate_per_s = 0;
  try {
    for (const fault of [GOOD, ...FAULTS])
      servers.push([fault, await sluice(await environmentOf(fault, silent.url)).start(options.workers)]);
    for (const [fault, server] of servers) {
      // Sluice finds out what to leave alone: the workers each for themselves.
      const { per_s } = await throughput(server, { requests, connections, seed: SEED_OF_WARM_UP });
      if (fault === GOOD) rate_per_s = LOAD * per_s;
    }
    const [good] = servers;
    if (good !== undefined)
      for (const [fault, server] of servers.slice(1)) whole.set(fault, await hasOthers(good[1], server));
    for (let round = 0; round < roundCount; round += 1) {
      const figures = new Map<string, Latency>();
      const first = round % servers.length;
      for (const [fault, { targets }] of [...servers.slice(first), ...servers.slice(0, first)])
        figures.set(fault, await latency(targets, { rate_per_s, duration_ms, seed: round + 1 }));
      rounds.push(figures);
    }
  } finally {
    await Promise.all(servers.map(async ([, server]) => server.stop()));
    silent.stop();
  }

  const all = (fault: string, read: (latency: Latency) => number): number[] =>
    rounds.map((round) => {
      const figures = round.get(fault);
      return figures === undefined ? Number.NaN : read(figures);
    });
  // Within a round the machine is the same for all.
  const ratios = (fault: string): number[] =>
    rounds.map((round) => (round.get(fault)?.p95 ?? Number.NaN) / (round.get(GOOD)?.p95 ?? Number.NaN));
  const slower = (fault: string): number => median(ratios(fault));
  console.log(
    `${short(rate_per_s)} pages a second; medians of ${roundCount} rounds of ${short(duration_ms / 1000)} s each, all servers in turn.\n`,
  );
  printTable(
    ['what is wrong with the box', 'p50 ms', 'p95 ms', 'against none', 'of each round', 'p99 ms'],
    servers.map(([fault]) => [
      fault,
      short(median(all(fault, (each) => each.p50))),
      short(median(all(fault, (each) => each.p95))),
      `${slower(fault).toFixed(2)}×`,
      ratios(fault)
        .map((ratio) => ratio.toFixed(2))
        .join(' '),
      short(median(all(fault, (each) => each.p99))),
    ]),
  );
  const failures = sum(servers.flatMap(([fault]) => all(fault, (each) => each.failures)));
  return {
    bars: [
      ...FAULTS.map((fault): Bar => {
        const isWhole = whole.get(fault) === true;
        return {
          what: `${fault}: the other 59 boxes are in the HTML`,
          bar: 'yes',
          figure: isWhole ? 'yes' : 'no',
          met: isWhole,
        };
      }),
      ...FAULTS.map((fault): Bar => ({
        what: `${fault}: p95 of the page`,
        bar: `≤ ${SLOWER_MAX}×`,
        figure: `${slower(fault).toFixed(2)}×`,
        met: slower(fault) <= SLOWER_MAX,
      })),
      { what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 },
    ],
    data: { rate_per_s, rounds: rounds.map((round) => Object.fromEntries(round)) },
  };
}

async function environmentOf(fault: string, silentUrl: string): Promise<Record<string, string>> {
  if (fault === GOOD) return {};
  // Nobody listens there.
  const refusing = `http://127.0.0.1:${await freePort()}/batch`;
  return { BAD: fault, REMOTE_URL: fault === 'remote-hangs' ? silentUrl : refusing };
}

/** The pages are the same but for the first banner. */
async function hasOthers(good: Server, bad: Server): Promise<boolean> {
  const [expected, found] = await Promise.all(
    [good, bad].map(async (server) => listingIn(await fetchListing(server, 1))),
  );
  const begin = expected?.indexOf('\n<aside class="promo"') ?? -1;
  const end = expected?.indexOf('</aside>', begin) ?? -1;
  if (expected === undefined || begin === -1 || end === -1) throw new Error('the listing has no banner');
  return found === expected.slice(0, begin) + expected.slice(end + '</aside>'.length);
}

/** A service that takes connections and never answers. */
async function startSilent(): Promise<{ url: string; stop: () => void }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/batch`,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
