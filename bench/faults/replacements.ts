// Everything replaced under load: the workers by `sluice reload`, the gateway by `sluice upgrade`. An open loop at a share of the
// capacity, once with kept connections and once with a new one for each request; nothing may fail.
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadResult } from '../lib/load.ts';
import { startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { type Bar, printTable, short } from '../lib/report.ts';
import { heal, workersOf } from './inject.ts';
import { capacityOf } from './kills.ts';
import { type FaultSluice, startFaultSluice } from './peers.ts';
import { mixedRoutes } from './routes.ts';

const DURATION_MS_MAX = 1_800_000;
const UPGRADES = 10;

interface Run {
  connections: string;
  times: number;
  took_ms: number[];
  overlaps: number;
  result: LoadResult;
}

export async function reloads(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const times = options.numbers['times'] ?? 20;
  return underLoad(options, times, 'reload', async (server) => {
    const before = new Set(workersOf(server.mark).map(({ pid }) => pid));
    await server.reload();
    const kept = workersOf(server.mark).filter(({ pid }) => before.has(pid));
    // Those that still finish what they hold may be there, but never all.
    if (kept.length >= server.workers) throw new Error('the reload replaced no worker');
  });
}

export async function upgrades(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const times = options.quick ? Math.min(UPGRADES, options.numbers['times'] ?? UPGRADES) : UPGRADES;
  return underLoad(options, times, 'upgrade', async (server) => {
    const before = await server.sluice.gatewayPid();
    let { code, stderr } = await server.sluice.cli(['upgrade']);
    // One at a time: the gateway before has kept connections for half of drain.timeout_ms.
    while (code !== 0 && stderr.includes('still finishes what it has')) {
      await pause(200);
      ({ code, stderr } = await server.sluice.cli(['upgrade']));
    }
    if (code !== 0) throw new Error(`sluice upgrade left with ${code}: ${stderr.trim()}`);
    if ((await server.sluice.gatewayPid()) === before) throw new Error('the upgrade replaced no gateway');
  });
}

async function underLoad(
  options: Options,
  times: number,
  what: string,
  act: (server: FaultSluice) => Promise<void>,
): Promise<{ bars: Bar[]; data: unknown }> {
  const ms = options.numbers['ms'] ?? 5;
  const share = (options.numbers['load'] ?? 90) / 100;
  const server = await startFaultSluice(options.workers);
  const runs: Run[] = [];
  try {
    await heal(server);
    const rate = share * (await capacityOf(server, ms, 5));
    console.log(
      `${rate.toFixed(0)} requests a second: ${share * 100} % of the capacity; ${times} times ${what}.\n`,
    );
    for (const keepAlive of [true, false]) {
      const running = startLoad({
        targets: server.targets,
        routes: mixedRoutes(ms),
        resend: false,
        mode: {
          kind: 'open',
          rate_per_s: rate,
          duration_ms: DURATION_MS_MAX,
          requests_max: 10_000_000,
          keep_alive: keepAlive,
        },
      });
      const took_ms: number[] = [];
      let result: LoadResult;
      try {
        for (let time = 0; time < times; time += 1) {
          const begun = performance.now();
          await act(server);
          took_ms.push(Math.round(performance.now() - begun));
        }
      } finally {
        result = await running.stop();
      }
      const { overlaps_total } = await server.sluice.status();
      runs.push({
        connections: keepAlive ? 'kept' : 'new for each',
        times,
        took_ms,
        overlaps: overlaps_total,
        result,
      });
    }
  } finally {
    await server.stop();
  }
  printTable(
    [
      'connections',
      `${what}s`,
      'each ms, at most',
      'sent',
      'answered',
      'failed',
      'statuses',
      'errors',
      'p50 ms',
      'p99 ms',
      'max ms',
    ],
    runs.map(({ connections, took_ms, result }) => [
      connections,
      took_ms.length,
      Math.max(...took_ms),
      result.sent,
      result.ok,
      result.failed + result.refused,
      JSON.stringify(result.statuses),
      JSON.stringify(result.errors),
      short(result.latency_ms.p50),
      short(result.latency_ms.p99),
      short(result.latency_ms.max),
    ]),
  );
  return {
    bars: [
      ...runs.map(({ connections, result }): Bar => {
        const failed = result.failed + result.refused;
        return {
          what: `answers other than 2xx and connection errors, connections ${connections}`,
          bar: '0',
          figure: `${failed} of ${result.sent}`,
          met: failed === 0 && result.ok > 0,
        };
      }),
      {
        what: 'overlaps',
        bar: '0',
        figure: String(Math.max(...runs.map(({ overlaps }) => overlaps))),
        met: runs.every(({ overlaps }) => overlaps === 0),
      },
    ],
    data: { runs },
  };
}
