// One mode of the benchmark: all servers run at once and take turns at each load within each round, or, where they have to be
// new, one after the other. Every request is kept until all rounds are put together, so percentiles are exact.
import { type Route, type Sample, load } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { type Pins, checkPinned, onCpus, pinsFor } from '../lib/pin.ts';
import { cpuMeterOf, memory } from '../lib/processes.ts';
import { sum } from '../lib/report.ts';
import { type Server, startDirect } from '../lib/servers.ts';
import { type Costs, meanCost, measureCosts } from './cost.ts';
import { type Mix, routesAt } from './mixes.ts';
import { CONTENDERS, type Contender, type Settings } from './servers.ts';

export interface Load {
  /** Percentage of the capacity. */
  percent: number;
  /** Duration, as a multiple of that of the load that most bars use. */
  seconds: number;
  /** Servers that it is for; all unless named. */
  only?: string[];
  /** True for a load that is not divided among the rounds: an overload that lasts is another thing than one that begins. */
  inOnePiece?: boolean;
}

export interface Mode {
  mix: Mix;
  /** Keys of CONTENDERS. */
  servers: string[];
  loads: Load[];
  /** Duration, as a multiple of that of the mode that `--seconds` is said for; and with `--quick`. */
  seconds: [number, number];
  /** Processes that servers other than Sluice with its defaults get more. */
  more?: number;
  /** Every server is started anew for each run, and this many requests of each class are left out. */
  skip?: number;
  /** Requests a second that load 100 % stands for, where that is not a matter of the CPU time that was measured. */
  capacity?(workers: number): number;
  /** Description of these requests, for the report. */
  carries?: string;
  /** CPUs that the servers are confined to, each with as many workers as it finds right; the load generator has the others. */
  cpus?: number;
  /** Connections of a closed loop that measures throughput before everything else. */
  connections?: number;
}

export interface Run {
  percent: number;
  server: string;
  round: number;
  /** Arrivals before are left out, and answers outside both are no goodput. */
  from_ms: number;
  to_ms: number;
  samples: Record<string, Sample[]>;
  late_p99_ms: number;
  generator_cpu: number;
  /** CPU seconds of all processes of the server, and what it answered with them. */
  cpu_s: number;
  answers: number;
}

export interface Measured {
  costs: Costs;
  runs: Run[];
  /** Server → answers a second in a closed loop, one figure a round. */
  throughput: Record<string, number[]>;
  /** Server → its processes after the last run, and what they hold. */
  sizes: Record<string, { processes: number; rss_bytes: number }>;
  /** Server → what it said at the end that is wrong. */
  alarms: Record<string, string[]>;
}

const LEFT_OUT_MS_MAX = 3_000;
const TIMEOUT_MS = 60_000;

/** `installed`: settings of every Sluice that says nothing else; none as it is installed. */
export async function measure(
  mode: Mode,
  loads: Load[],
  options: Options,
  installed: Settings,
): Promise<Measured> {
  const { workers, quick } = options;
  const pins = mode.cpus === undefined ? undefined : pinsFor(mode.cpus);
  const confined = async <T>(act: () => Promise<T>): Promise<T> =>
    pins === undefined ? act() : onCpus(pins, act);
  const app = await confined(async () => mode.mix.app(workers));
  const costs = await measureCosts(
    async () => confined(async () => startDirect(app)),
    workers,
    async (target) => mode.mix.routes(target),
    quick ? 0.5 : 2,
    mode.connections ?? 4 * workers,
  );
  const names = mode.servers.filter(
    (name) =>
      (options.only.length === 0 || options.only.includes(name)) &&
      loads.some(({ only }) => only?.includes(name) ?? true),
  );
  const measured: Measured = { costs, runs: [], throughput: {}, sizes: {}, alarms: {} };
  const seconds = (options.numbers['seconds'] ?? 0) * mode.seconds[quick ? 1 : 0];

  const start = async (name: string): Promise<Running> => {
    const more = name === 'sluice' ? 0 : (mode.more ?? 0);
    const served = { ...app, workers: workers + more, finds: pins !== undefined };
    const server = await confined(async () => contender(name).start(served, installed));
    await stays(name, server, pins);
    const routes = await mode.mix.routes(server.targets[0] ?? '');
    return { name, server, routes };
  };
  const rate = (routes: Route[]): number =>
    mode.capacity?.(workers) ?? (workers * 1000) / meanCost(routes, costs.ms);
  const run = async (
    running: Running,
    { percent, seconds: share, inOnePiece = false }: Load,
    round: number,
  ): Promise<void> => {
    const routes = routesAt(mode.mix, running.routes, percent / 100, costs.ms);
    const perSecond = (rate(routes) * percent) / 100;
    const rounds = inOnePiece ? 1 : options.runs;
    const duration_ms = Math.round((1000 * seconds * share) / rounds);
    measured.runs.push(await arrivals(running, routes, percent, perSecond, duration_ms, round));
  };

  if (mode.skip !== undefined) {
    for (let round = 0; round < options.runs; round += 1) {
      for (const name of rotated(names, round)) {
        await during([name], start, async ([running]) => {
          for (const each of loads) if (running !== undefined) await run(running, each, round);
        });
      }
    }
    return measured;
  }
  await during(names, start, async (all) => {
    for (const running of all) {
      const routes = routesAt(mode.mix, running.routes, 0.72, costs.ms);
      await closed(running, routes, rate(routes) * (quick ? 1.5 : 3), mode.connections ?? 2 * workers);
    }
    for (let round = 0; round < options.runs; round += 1) {
      if (mode.connections !== undefined) {
        for (const running of rotated(all, round)) {
          const guess = await closed(running, running.routes, 4 * mode.connections, mode.connections);
          const requests = guess * seconds * 0.2;
          const perSecond = await closed(running, running.routes, requests, mode.connections);
          measured.throughput[running.name] = [...(measured.throughput[running.name] ?? []), perSecond];
        }
      }
      for (const each of loads.filter(({ inOnePiece }) => round === 0 || inOnePiece !== true)) {
        process.stderr.write(`round ${round + 1} of ${options.runs}, ${each.percent} %\n`);
        const wanted = all.filter(({ name }) => each.only?.includes(name) ?? true);
        for (const running of rotated(wanted, round)) await run(running, each, round);
      }
    }
    for (const { name, server } of all) {
      const pids = await pidsOf(server);
      const rss_bytes = sum(pids.map((pid) => memory(pid).rssBytes));
      measured.sizes[name] = { processes: pids.length, rss_bytes };
      measured.alarms[name] = (await server.alarms?.()) ?? [];
      await stays(name, server, pins);
    }
  });
  return measured;
}

async function pidsOf(server: Server): Promise<number[]> {
  return [...new Set([...server.frontPids, ...(await server.workerPids())])];
}

async function stays(name: string, server: Server, pins: Pins | undefined): Promise<void> {
  if (pins !== undefined) checkPinned(await pidsOf(server), pins, contender(name).name);
}

interface Running {
  name: string;
  server: Server;
  routes: Route[];
}

async function arrivals(
  { name, server }: Running,
  routes: Route[],
  percent: number,
  rate_per_s: number,
  duration_ms: number,
  round: number,
): Promise<Run> {
  const used = await cpuMeterOf(async () => pidsOf(server));
  const result = await load({
    targets: server.targets,
    routes,
    samples: true,
    timeout_ms: TIMEOUT_MS,
    // The same for all servers of a round: they get the same requests at the same moments.
    seed: 1000 * round + percent,
    mode: {
      kind: 'open',
      rate_per_s,
      duration_ms,
      requests_max: Math.ceil((rate_per_s * duration_ms) / 500) + 100,
    },
  });
  const samples = Object.entries(result.classes).map(
    ([each, figures]) => [each, figures.samples ?? []] as const,
  );
  return {
    percent,
    server: name,
    round,
    from_ms: Math.min(LEFT_OUT_MS_MAX, duration_ms / 10),
    to_ms: duration_ms,
    samples: Object.fromEntries(samples),
    late_p99_ms: result.late_ms.p99 ?? Number.NaN,
    generator_cpu: (result.generator_cpu_s ?? Number.NaN) / result.elapsed_s,
    cpu_s: await used(),
    answers: result.ok,
  };
}

async function closed(
  { name, server }: Running,
  routes: Route[],
  count: number,
  connections: number,
): Promise<number> {
  const requests = Math.ceil(count);
  const mode = { kind: 'closed' as const, connections, requests };
  const result = await load({ targets: server.targets, routes, timeout_ms: TIMEOUT_MS, mode });
  if (result.ok === 0) throw new Error(`${name} answered nothing: ${JSON.stringify(result.errors)}`);
  return result.ok / result.elapsed_s;
}

async function during(
  names: string[],
  start: (name: string) => Promise<Running>,
  act: (all: Running[]) => Promise<void>,
): Promise<void> {
  const all: Running[] = [];
  try {
    for (const name of names) all.push(await start(name));
    await act(all);
  } finally {
    await Promise.all(all.map(async ({ server }) => server.stop()));
  }
}

export function contender(name: string): Contender {
  const found = CONTENDERS[name];
  if (found === undefined) throw new Error(`${name} is none of ${Object.keys(CONTENDERS).join(', ')}`);
  return found;
}

function rotated<T>(all: T[], by: number): T[] {
  const at = by % Math.max(1, all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}
