// The faults themselves, and what the kernel says of the workers meanwhile. Workers are found by a mark in their
// environment, so that nothing is ever killed that the benchmark did not start.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../tests/support/chance.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { cpuMeter } from '../lib/processes.ts';
import { FIRST_AFTER_MS } from './equal.ts';
import type { FaultServer } from './peers.ts';

export interface Worker {
  pid: number;
  /** `NODE_APP_INSTANCE`: a replacement has the same. */
  place: number;
}

/**
 * Node processes whose environment holds the mark. PM2 passes it and the place inside a JSON value. Passenger tells no place: each process
 * is one of its own.
 */
export function workersOf(mark: string): Worker[] {
  return fs.readdirSync('/proc').flatMap((name): Worker[] => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const environment = fs.readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(mark)) return [];
      const place = /NODE_APP_INSTANCE"?[=:]"?(\d+)/.exec(environment)?.[1];
      if (path.basename(fs.readlinkSync(`/proc/${name}/exe`)) !== 'node') return [];
      const isPassenger = environment.includes('PASSENGER_');
      if (place === undefined && !isPassenger) return [];
      return [{ pid: Number(name), place: Number(place ?? name) }];
    } catch {
      // It ended meanwhile, or is somebody else's.
      return [];
    }
  });
}

export function kill9(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

export interface Fault {
  /** Breaks something once; gives the moment, milliseconds of the clock. */
  act: () => Promise<number> | number;
  /** Cleans up after the last. */
  end?: () => void;
}

/**
 * Calls `act` first after a moment and then at every interval, not beside itself, `times_max` times at most. An act that takes longer than
 * the interval has those after it follow at once until they are in time again. `stop` gives the moments of all that were done.
 */
export function every(
  interval_ms: number,
  act: () => Promise<number> | number,
  times_max = Number.POSITIVE_INFINITY,
): { stop(): Promise<number[]> } {
  let isStopped = false;
  const moments: number[] = [];
  const loop = async (): Promise<void> => {
    let next = performance.now() + FIRST_AFTER_MS;
    while (moments.length < times_max) {
      while (!isStopped && performance.now() < next) await wait(10);
      if (isStopped) return;
      moments.push(await act());
      next += interval_ms;
    }
  };
  const running = loop();
  // Looked at in `stop`, which may be later.
  running.catch(() => undefined);
  return {
    stop: async () => {
      isStopped = true;
      await running;
      return moments;
    },
  };
}

export const FAULTS: Record<string, (server: FaultServer, random: Random) => Fault> = {
  normal: () => ({ act: () => Date.now() }),
  kills: (server, random) => ({ act: async () => killOne(server, random) }),
  reload: (server) => ({
    act: async () => {
      const begun_ms = Date.now();
      await server.reload();
      return begun_ms;
    },
  }),
  loop: (server) => {
    const requests: http.ClientRequest[] = [];
    return {
      act: () => {
        requests.push(askForLoop(server));
        return Date.now();
      },
      end: () => {
        for (const request of requests) request.destroy();
      },
    };
  },
};

/**
 * Workers of which one is killed: the same number of places for every server. Sluice's worker for long requests is left alone, because
 * the others have none. It would often be idle, and its deaths would cost nothing.
 */
export function victims(workers: Worker[], places: number): Worker[] {
  return workers.filter(({ pid, place }) => place < places || place === pid);
}

/** Kills a random worker, and waits for one if none is there, so that each call is one kill. */
export async function killOne(server: FaultServer, random: Random): Promise<number> {
  const what = `a worker of ${server.name} to kill`;
  return eventually(
    () => {
      const workers = victims(workersOf(server.mark), server.workers);
      const victim = workers[random(Math.max(1, workers.length))];
      return victim !== undefined && kill9(victim.pid) ? Date.now() : false;
    },
    { what },
  );
}

let loops = 0;

/** Sends the request that never ends, and lets it wait. Each is another, because one that has killed two workers is refused. */
export function askForLoop(server: FaultServer): http.ClientRequest {
  loops += 1;
  const url = `http://${server.targets[0]}/loop?${loops}`;
  const request = http.get(url, (response) => response.resume());
  request.on('error', () => {});
  return request;
}

/** Kills what computes though nobody asks, and waits until every place serves again. */
export async function heal(server: FaultServer): Promise<number> {
  let stuck = 0;
  await eventually(
    async () => {
      const workers = workersOf(server.mark);
      // Idle ones use next to nothing, and one that only starts is done by the second look.
      const looks: number[][] = [];
      for (let look = 0; look < 2; look += 1) {
        const used = cpuMeter(workers.map(({ pid }) => pid));
        await wait(1_000);
        looks.push(used());
      }
      const busy = workers.filter((_, at) => looks.every((seconds) => (seconds[at] ?? 0) > 0.1));
      if (busy.length > 0) {
        stuck += busy.filter(({ pid }) => kill9(pid)).length;
        return false;
      }
      if (new Set(workers.map(({ place }) => place)).size < server.workers) return false;
      for (let times = 0; times < 4 * server.workers; times += 1) {
        const answer = await fetch(`http://${server.targets[0]}/?ms=1`, {
          signal: AbortSignal.timeout(1_000),
        });
        if (answer.status !== 200) return false;
      }
      return true;
    },
    { deadlineMs: 120_000, what: `all workers of ${server.name}` },
  );
  return stuck;
}
