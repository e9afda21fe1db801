// The servers of the fault benchmarks, each with its own way to replace all workers: Sluice, plain Node processes behind
// nginx + HAProxy under a simple supervisor, and PM2's cluster mode. Each is set up as a careful user of it would.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/support/ports.ts';
import { runHaproxy, runNginx } from '../lib/fronts.ts';
import { startPm2 } from '../lib/pm2.ts';
import { answering, local, pidOf, run, stopAll } from '../lib/run.ts';
import { type Server, type SluiceServer, nodeEnvironment, startSluiceServer } from '../lib/servers.ts';
import { workersOf } from './inject.ts';

export const faultsApp = fileURLToPath(new URL('../apps/faults.cjs', import.meta.url));

export interface FaultServer extends Server {
  /** Mark in the environment of every worker; finds them in `/proc`. */
  mark: string;
  workers: number;
  /** Replaces all workers, the way this server does it. Rejects if it cannot. */
  reload(): Promise<void>;
}

/** HAProxy takes a process off at its first refused connection or its second failed check, which comes within 500 ms. */
const HAPROXY_CHECKS = [
  'option httpchk GET /health',
  'option redispatch 1',
  'retry-on conn-failure empty-response',
  'http-request disable-l7-retry if !METH_GET',
  'timeout check 2s',
  'default-server check inter 250ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down',
];
const CHECKED_MS = 750;
const LEAVE_MS_MAX = 10_000;
const RESTART_AFTER_MS = 20;

export interface FaultSluice extends FaultServer, Omit<SluiceServer, keyof Server> {}

export async function startFaultSluice(
  workers: number,
  env: Record<string, string> = {},
): Promise<FaultSluice> {
  const mark = randomUUID();
  const server = await startSluiceServer({ entry: faultsApp, workers, env: { BENCH_MARK: mark } }, { env });
  return {
    ...server,
    mark,
    workers,
    workerPids: async () => workersOf(mark).map(({ pid }) => pid),
    reload: async () => {
      const { code, stderr } = await server.sluice.cli(['reload']);
      if (code !== 0)
        throw new Error(`sluice reload left with ${code}: ${stderr.trim().split('\n')[0] ?? ''}`);
    },
  };
}

export async function startNginxHaproxySupervised(workers: number): Promise<FaultServer> {
  const mark = randomUUID();
  const places = await Promise.all(
    Array.from({ length: workers }, async (_, at) => {
      const place = new Place(await freePort(), {
        BENCH_MARK: mark,
        NODE_APP_INSTANCE: String(at),
        LEAVE_DELAY_MS: String(CHECKED_MS),
      });
      await place.start();
      return place;
    }),
  );
  const balancer = await runHaproxy(
    places.map(({ port }) => port),
    HAPROXY_CHECKS,
  );
  const front = await runNginx([{ path: '/', ports: [balancer.port] }]);
  return {
    name: 'nginx + HAProxy',
    targets: [local(front.port)],
    frontPids: [pidOf(front.child), pidOf(balancer.child)],
    mark,
    workers,
    workerPids: async () => workersOf(mark).map(({ pid }) => pid),
    reload: async () => {
      for (const place of places) {
        await place.replace();
        // Time for the check that takes it back.
        await wait(CHECKED_MS);
      }
    },
    stop: async () => {
      await stopAll([front.child, balancer.child]);
      await Promise.all(places.map((place) => place.stop()));
    },
  };
}

/** One port whose process is started again whenever it ends. */
class Place {
  readonly port: number;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(port: number, env: Record<string, string>) {
    this.port = port;
    this.#env = env;
  }

  async start(): Promise<void> {
    if (this.#isStopped) return;
    const app = { entry: faultsApp, workers: 1, env: this.#env };
    const child = run(process.execPath, [faultsApp], nodeEnvironment(app, this.port));
    this.#child = child;
    child.once('exit', () => {
      // One that a reload ends is started again here too.
      if (!this.#isStopped) setTimeout(() => void this.start().catch(() => undefined), RESTART_AFTER_MS);
    });
    await answering(this.port, child);
  }

  /** Resolves when the next process listens. */
  async replace(): Promise<void> {
    const before = this.#child;
    if (before === undefined) return;
    before.kill('SIGTERM');
    const timer = setTimeout(() => before.kill('SIGKILL'), LEAVE_MS_MAX);
    if (before.exitCode === null && before.signalCode === null) await once(before, 'exit');
    clearTimeout(timer);
    while (this.#child === before) await wait(5);
    if (this.#child !== undefined) await answering(this.port, this.#child);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#child !== undefined) await stopAll([this.#child]);
  }
}

export async function startFaultPm2(workers: number): Promise<FaultServer> {
  const mark = randomUUID();
  const server = await startPm2({ entry: faultsApp, workers, env: { BENCH_MARK: mark } }, true);
  return { ...server, mark, workers, workerPids: async () => workersOf(mark).map(({ pid }) => pid) };
}
