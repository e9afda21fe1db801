// The faults themselves, and what the kernel says of the workers meanwhile. Workers are found by a mark in their
// environment, so that nothing is ever killed that the benchmark did not start.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../tests/support/eventually.ts';
import { cpuMeter, cpuTime } from '../lib/processes.ts';
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
  /** Ends it; says what was done. */
  stop(): Promise<string>;
}

const FIRST_AFTER_MS = 500;
const RELOAD_EVERY_MS = 10_000;

/** Calls `act` first after a moment and then at every interval, not beside itself. */
export function every(interval_ms: number, act: () => Promise<void> | void): { stop(): Promise<number> } {
  let isStopped = false;
  let times = 0;
  const loop = async (): Promise<void> => {
    let next = performance.now() + FIRST_AFTER_MS;
    for (;;) {
      while (!isStopped && performance.now() < next) await wait(10);
      if (isStopped) return;
      await act();
      times += 1;
      next = Math.max(next + interval_ms, performance.now());
    }
  };
  const running = loop();
  // Looked at in `stop`, which may be later.
  running.catch(() => undefined);
  return {
    stop: async () => {
      isStopped = true;
      await running;
      return times;
    },
  };
}

export const FAULTS: Record<string, (server: FaultServer) => Fault> = {
  normal: () => ({ stop: async () => '' }),
  reload: (server) => {
    const reloads = every(RELOAD_EVERY_MS, async () => server.reload());
    return { stop: async () => `${await reloads.stop()} reloads` };
  },
  kills: (server) => {
    const kills = randomKills(server, 1_000);
    return { stop: async () => `${await kills.stop()} kills` };
  },
  loop: (server) => {
    const timer = setTimeout(() => (request = askForLoop(server)), FIRST_AFTER_MS);
    let request: http.ClientRequest | undefined;
    return {
      stop: async () => {
        clearTimeout(timer);
        request?.destroy();
        return request === undefined ? 'over before the loop' : '1 loop';
      },
    };
  },
};

export function randomKills(server: FaultServer, interval_ms: number): { stop(): Promise<number> } {
  return every(interval_ms, () => {
    const workers = workersOf(server.mark);
    const victim = workers[Math.floor(Math.random() * workers.length)];
    if (victim !== undefined) kill9(victim.pid);
  });
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

/** CPU seconds of each place, whichever processes it had. Looks twice a second; what a process used after the last look is lost. */
export function placesMeter(server: FaultServer): { stop(): number[] } {
  const first = new Map(workersOf(server.mark).map(({ pid }) => [pid, cpuTime(pid).exactS]));
  const seen = new Map<number, { place: number; used: number }>();
  const look = (): void => {
    for (const { pid, place } of workersOf(server.mark)) {
      seen.set(pid, { place, used: cpuTime(pid).exactS - (first.get(pid) ?? 0) });
    }
  };
  const timer = setInterval(look, 500);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      const places = new Map<number, number>();
      for (const { place, used } of seen.values()) places.set(place, (places.get(place) ?? 0) + used);
      return [...places.values()];
    },
  };
}
