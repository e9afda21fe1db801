// Requests that only wait, and ordinary ones beside them: Sluice as installed against one plain Node process, the same load.
//
//   npx tsx bench/waiting.ts [--quick] [--runs N] [--workers N] [--polls N] [--streams N] [--only polls,streams,upstream,after,nested]
//
// Polls of 8 s that arrive within half a second, event streams that arrive within one, an upstream of 2 s at 100 requests a second;
// ordinary pages come at a steady pace meanwhile, whatever became of those before. Then what is left behind by it: pages on new paths
// right after polls, streams and jobs of a thread. Last an app that calls itself. Clients are spread over addresses of the loopback
// network, as the bound on connections of one address is no part of this.
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable } from './lib/report.ts';
import { type Server, startDirect, startSluiceServer } from './lib/servers.ts';

const POLL_MS = 8_000;
const UPSTREAM_MS = 2_000;
const UPSTREAM_PER_S = 100;
const PAGES_PER_S = 50;
const LATENCY_MAX = 2;
const entry = fileURLToPath(new URL('apps/waiting.cjs', import.meta.url));

interface Outcome {
  status: number | 'failed';
  code: string;
  ms: number;
  path: string;
}

/** One cell: a phase on a server. */
interface Cell {
  phase: string;
  server: string;
  waiting: Outcome[];
  pages: Outcome[];
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 2,
  numbers: { polls: [1_000, 200], streams: [2_000, 400] },
});
const PHASES: Record<string, (target: string) => Promise<Outcome[]>> = {
  polls: (target) => within(options.numbers['polls'] ?? 0, 500, () => get(target, `/poll?ms=${POLL_MS}`)),
  streams: (target) => within(options.numbers['streams'] ?? 0, 1_000, () => get(target, '/stream?ms=4000')),
  upstream: (target) => within(UPSTREAM_PER_S * 10, 10_000, () => get(target, `/upstream?ms=${UPSTREAM_MS}`)),
  after: afterwards,
  nested: (target) => within(100, 50, () => get(target, '/nested?depth=3')),
};
const asked = Object.keys(PHASES).filter((name) => options.only.length === 0 || options.only.includes(name));
const about = describe('Requests that only wait', options);
const cells: Cell[] = [];
let addresses = 0;
for (let round = 0; round < options.runs; round += 1)
  for (const start of round % 2 === 0 ? [startPlain, startSluice] : [startSluice, startPlain])
    await measure(start);
printTable(['phase', 'server', 'waiting', 'failed', 'pages', 'failed', 'p50 ms', 'p99 ms', 'codes'], rows());
conclude('waiting', options, about, bars(), { cells: cells.map(summary) });

function startPlain(): Promise<Server> {
  return startDirect({ entry, workers: 1 });
}

function startSluice(): Promise<Server> {
  return startSluiceServer({ entry, workers: options.workers });
}

async function measure(start: () => Promise<Server>): Promise<void> {
  const server = await start();
  try {
    const target = server.targets[0] ?? '';
    // What a class costs is known of an app that has served.
    for (let page = 0; page < 200; page += 1) await get(target, '/page');
    for (const phase of asked) {
      const pages: Promise<Outcome>[] = [];
      const timer = setInterval(() => pages.push(get(target, '/page')), 1_000 / PAGES_PER_S);
      const waiting = await PHASES[phase]?.(target);
      clearInterval(timer);
      cells.push({ phase, server: server.name, waiting: waiting ?? [], pages: await Promise.all(pages) });
    }
  } finally {
    await server.stop();
  }
}

/** Sends so many requests, spread evenly over a time that begins now. Arrivals do not wait for answers. */
async function within(count: number, spread_ms: number, ask: () => Promise<Outcome>): Promise<Outcome[]> {
  const began = performance.now();
  const outcomes: Promise<Outcome>[] = [];
  while (outcomes.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - began) / spread_ms) * count));
    while (outcomes.length < due) outcomes.push(ask());
    await pause(1);
  }
  return Promise.all(outcomes);
}

/** Cheap requests after others have waited: none is refused for what those took. */
async function afterwards(target: string): Promise<Outcome[]> {
  const burst = (count: number, path: (at: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, at) => get(target, path(at))));
  const outcomes = await burst(60, () => '/poll?ms=3000');
  outcomes.push(...(await burst(50, (at) => `/new-${at}/page`)));
  outcomes.push(...(await burst(60, () => '/job?ms=20')));
  outcomes.push(...(await burst(60, (at) => `/other-${at}/page`)));
  return outcomes;
}

/** One request on a connection of its own. Ends with its answer; nothing is sent twice. */
function get(target: string, path: string): Promise<Outcome> {
  const began = performance.now();
  const [host = '', port] = target.split(':');
  addresses = (addresses + 1) % 64;
  return new Promise((resolve) => {
    const end = (status: Outcome['status'], code: string): void =>
      resolve({ status, code, ms: performance.now() - began, path });
    http
      .get({ host, port, path, agent: false, localAddress: `127.0.0.${addresses + 2}` }, (answer) => {
        let body = '';
        answer
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => end(answer.statusCode ?? 'failed', /SLU-[A-Z-]+/.exec(body)?.[0] ?? ''))
          .on('error', () => end('failed', 'cut off'));
      })
      .on('error', (error) => end('failed', error.message));
  });
}

interface Summary {
  phase: string;
  server: string;
  waiting: number;
  waiting_failed: number;
  pages: number;
  pages_failed: number;
  p50_ms: number;
  p99_ms: number;
  codes: string;
}

function summary({ phase, server, waiting, pages }: Cell): Summary {
  const failed = (outcomes: Outcome[]) => outcomes.filter(({ status }) => status !== 200);
  const times = pages.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (part: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
  const codes = new Map<string, number>();
  for (const { code, status, path } of [...failed(waiting), ...failed(pages)]) {
    const name = `${code === '' ? String(status) : code} ${path.replace(/[-?].*/, '')}`;
    codes.set(name, (codes.get(name) ?? 0) + 1);
  }
  return {
    phase,
    server,
    waiting: waiting.length,
    waiting_failed: failed(waiting).length,
    pages: pages.length,
    pages_failed: failed(pages).length,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    codes: [...codes].map(([code, count]) => `${count} ${code}`).join(', '),
  };
}

function rows(): (string | number)[][] {
  return cells
    .map(summary)
    .sort((one, other) => asked.indexOf(one.phase) - asked.indexOf(other.phase))
    .map((cell) => [
      cell.phase,
      cell.server,
      cell.waiting,
      cell.waiting_failed,
      cell.pages,
      cell.pages_failed,
      cell.p50_ms.toFixed(2),
      cell.p99_ms.toFixed(2),
      cell.codes,
    ]);
}

function bars(): Bar[] {
  const all = cells.map(summary);
  const isPlain = ({ server }: Summary) => server === 'Node alone';
  return asked.flatMap((phase) => {
    const of = (plain: boolean) => all.filter((cell) => cell.phase === phase && isPlain(cell) === plain);
    const refused = of(false).reduce((total, cell) => total + cell.waiting_failed + cell.pages_failed, 0);
    const none: Bar = {
      what: `${phase}: refused or failed`,
      bar: '0',
      figure: String(refused),
      met: refused === 0,
    };
    // Work behind them is the subject there, not the latency beside it.
    if (phase === 'after' || phase === 'nested') return [none];
    const ratio = (get: (cell: Summary) => number) => median(of(false).map(get)) / median(of(true).map(get));
    const latency = (what: string, get: (cell: Summary) => number): Bar => ({
      what: `${phase}: ${what} of pages beside them, × plain Node`,
      bar: `≤ ${LATENCY_MAX}`,
      figure: ratio(get).toFixed(2),
      met: ratio(get) <= LATENCY_MAX,
    });
    return [none, latency('p50', (cell) => cell.p50_ms), latency('p99', (cell) => cell.p99_ms)];
  });
}
