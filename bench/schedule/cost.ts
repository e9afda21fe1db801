// What the work costs, before any server is loaded: turns of the app's loop per millisecond of CPU, CPU time of a request
// of each class, and what the machine does at most. Rates are shares of these and the same for all servers.
import { spawn } from 'node:child_process';
import os from 'node:os';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Route, load } from '../lib/load.ts';
import { cpuMeter } from '../lib/processes.ts';
import { sum } from '../lib/report.ts';
import type { Server } from '../lib/servers.ts';

const turnsProgram = fileURLToPath(new URL('../apps/lib/turns.cjs', import.meta.url));

const found = new Map<string, number>();

/** Environment of the app for a Node.js, which differ in how fast the same loop is. Counted with all cores busy, as they will be. */
export async function turnsEnvironment(node = process.execPath): Promise<Record<string, string>> {
  const known = found.get(node);
  // Not those of the machine: servers may be confined to some.
  const cores = os.availableParallelism();
  const turns =
    known ??
    Math.round(sum(await Promise.all(Array.from({ length: cores }, async () => count(node)))) / cores);
  found.set(node, turns);
  return { BENCH_TURNS_PER_MS: String(turns) };
}

async function count(node: string): Promise<number> {
  const child = spawn(node, [turnsProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await once(child, 'close');
  const turns = Number(text);
  if (!(turns > 0)) throw new Error(`${node} could not count turns`);
  return turns;
}

export interface Costs {
  /** Class → milliseconds of CPU in the Node process, HTTP included. */
  ms: Record<string, number>;
  /** CPU seconds of answers a second, at most: every process busy, no front, clients that wait for their answers. */
  work_per_s: number;
}

/**
 * `start`: the app's processes without a front, as many as `workers`. `routesAt`: the mix, for the address of a server of the
 * app. `connections` are enough for none of the processes to be idle between two requests.
 */
export async function measureCosts(
  start: () => Promise<Server>,
  workers: number,
  routesAt: (target: string) => Promise<Route[]>,
  seconds: number,
  connections: number,
): Promise<Costs> {
  const server = await start();
  try {
    const routes = await routesAt(server.targets[0] ?? '');
    const closed = async (some: Route[], requests: number, connections: number) => {
      const plan = {
        targets: server.targets,
        routes: some,
        mode: { kind: 'closed' as const, connections, requests },
      };
      const result = await load(plan);
      if (result.ok !== requests)
        throw new Error(`costs: ${JSON.stringify(result.statuses)} ${JSON.stringify(result.errors)}`);
      return result;
    };
    // The compiler has to have seen the work.
    await closed(routes, Math.ceil(50 * seconds) * workers, workers);
    const ms: Record<string, number> = {};
    for (const name of new Set(routes.map((route) => route.class ?? 'all'))) {
      const some = routes.filter((route) => (route.class ?? 'all') === name);
      const cost = async (requests: number): Promise<number> => {
        const used = cpuMeter(await server.workerPids());
        await closed(some, requests, workers);
        return (sum(used()) * 1000) / requests;
      };
      const guess = await cost(2 * workers);
      const wanted = (seconds * 1000 * workers) / guess;
      ms[name] = await cost(Math.max(2 * workers, Math.min(400, Math.ceil(wanted))));
    }
    const mean = meanCost(routes, ms);
    const requests = Math.ceil((2 * seconds * 1000 * workers) / mean);
    const result = await closed(routes, requests, connections);
    const work = sum(Object.entries(result.classes).map(([name, { ok }]) => (ok * (ms[name] ?? 0)) / 1000));
    return { ms, work_per_s: work / result.elapsed_s };
  } finally {
    await server.stop();
  }
}

/** Milliseconds of CPU that a request of the mix costs on average. */
export function meanCost(routes: Route[], ms: Record<string, number>): number {
  const weights = sum(routes.map((route) => route.weight ?? 1));
  return sum(routes.map((route) => (route.weight ?? 1) * (ms[route.class ?? 'all'] ?? 0))) / weights;
}
