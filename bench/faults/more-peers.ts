// Two more servers of the fault benchmarks: node:cluster with a careful primary, and Passenger. Watt is not here: its workers are
// threads of one process, and no kill ends one of them alone.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../tests/support/eventually.ts';
import { freePort } from '../../tests/support/ports.ts';
import { runPassenger } from '../lib/passenger.ts';
import { answering, find, local, pidOf, run, stopAll } from '../lib/run.ts';
import { nodeEnvironment } from '../lib/servers.ts';
import { workersOf } from './inject.ts';
import { type FaultServer, faultsApp } from './peers.ts';

const RELOAD_MS_MAX = 60_000;

/** Workers that end are forked again at once; a reload replaces one after the other, the new one before the old one leaves. */
export async function startFaultCluster(workers: number): Promise<FaultServer> {
  const mark = randomUUID();
  const port = await freePort();
  const primary = fileURLToPath(new URL('cluster-primary.cjs', import.meta.url));
  const app = { entry: faultsApp, workers, env: { BENCH_MARK: mark } };
  const child = run(process.execPath, [primary, faultsApp, String(workers)], nodeEnvironment(app, port));
  await answering(port, child);
  return {
    name: 'node:cluster',
    targets: [local(port)],
    frontPids: [pidOf(child)],
    mark,
    workers,
    workerPids: async () => workersOf(mark).map(({ pid }) => pid),
    reload: async () => {
      const before = new Set(workersOf(mark).map(({ pid }) => pid));
      child.kill('SIGUSR2');
      await eventually(() => !workersOf(mark).some(({ pid }) => before.has(pid)), {
        deadlineMs: RELOAD_MS_MAX,
        what: 'the end of all workers of node:cluster',
      });
    },
    stop: async () => {
      await stopAll([child]);
    },
  };
}

/**
 * Passenger Standalone, which starts a process again when a request comes. `passenger-config restart-app` replaces all processes at once:
 * rolling restarts are part of its paid edition.
 */
export async function startFaultPassenger(workers: number): Promise<FaultServer> {
  const mark = randomUUID();
  const app = { entry: faultsApp, workers, env: { BENCH_MARK: mark } };
  const { port, watchdog, appDir, dir, stop } = await runPassenger(app);
  return {
    name: 'Passenger',
    targets: [local(port)],
    frontPids: [watchdog],
    mark,
    workers,
    workerPids: async () => workersOf(mark).map(({ pid }) => pid),
    reload: async () => {
      const command = run(find('passenger-config'), ['restart-app', appDir, '--ignore-app-not-running'], {
        env: { ...process.env, PASSENGER_INSTANCE_REGISTRY_DIR: dir },
      });
      const [code] = (await once(command, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`passenger-config restart-app left with ${code}`);
    },
    stop,
  };
}
