// Measurements of any server that answers listing pages.
import { load, type LoadResult, type Route } from '../../lib/load.ts';
import { cpuMeter, cpuTime } from '../../lib/processes.ts';
import { sum } from '../../lib/report.ts';
import type { Server } from '../../lib/servers.ts';
import { LISTINGS } from '../shop/data.ts';

export const routes: Route[] = Array.from({ length: LISTINGS }, (_, page) => ({
  path: `/listing?page=${page}`,
}));

export interface Throughput {
  per_cpu_s: number;
  per_s: number;
  failures: number;
}

/** Pages per second of CPU time of all processes of a server, in a closed loop. The same seed gives the same pages. */
export async function throughput(
  server: Server,
  { requests, connections, seed }: { requests: number; connections: number; seed: number },
  paths: Route[] = routes,
): Promise<Throughput> {
  const before = await server.workerPids();
  const meter = cpuMeter([...server.frontPids, ...before]);
  const result = await load({
    targets: server.targets,
    routes: paths,
    seed,
    mode: { kind: 'closed', connections, requests },
  });
  const after = await server.workerPids();
  if (before.some((pid) => !after.includes(pid)))
    throw new Error('a worker has gone, and its CPU time with it');
  // Those of the long lane are started when they are needed.
  const joined = after.filter((pid) => !before.includes(pid));
  const cpu_s = sum(meter()) + sum(joined.map((pid) => cpuTime(pid).exactS));
  return {
    per_cpu_s: result.ok / cpu_s,
    per_s: result.ok / result.elapsed_s,
    failures: result.failed + result.refused,
  };
}

export interface Latency {
  p50: number;
  p95: number;
  p99: number;
  /** Delay of the generator's own sends, p99. */
  late_p99: number;
  failures: number;
}

/** Milliseconds from the moment at which a request was meant to be sent, at a fixed rate (Poisson). */
export async function latency(
  targets: string[],
  { rate_per_s, duration_ms, seed }: { rate_per_s: number; duration_ms: number; seed: number },
  paths: Route[] = routes,
): Promise<Latency> {
  const result: LoadResult = await load({
    targets,
    routes: paths,
    seed,
    mode: {
      kind: 'open',
      rate_per_s,
      duration_ms,
      requests_max: Math.ceil((rate_per_s * duration_ms * 2) / 1000) + 100,
      measure_from_ms: Math.floor(duration_ms / 10),
    },
  });
  const { p50 = Number.NaN, p95 = Number.NaN, p99 = Number.NaN } = result.latency_ms;
  return { p50, p95, p99, late_p99: result.late_ms.p99 ?? 0, failures: result.failed + result.refused };
}
