// Two more servers of the fault benchmarks: node:cluster with a careful primary, and Passenger. Watt is not here: its workers are
// threads of one process, and no kill ends one of them alone.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../tests/support/eventually.ts';
import { freePort } from '../../tests/support/ports.ts';
import { answering, find, local, pidOf, run, stopAll, temporaryDir } from '../lib/run.ts';
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
  const port = await freePort();
  const entry = fileURLToPath(new URL('../apps/late-entry.cjs', import.meta.url));
  const dir = temporaryDir('bench-passenger-');
  const log = path.join(dir, 'log');
  const flags = {
    engine: 'builtin',
    address: '127.0.0.1',
    port,
    environment: 'production',
    'app-type': 'node',
    'startup-file': entry,
    nodejs: process.execPath,
    'min-instances': workers,
    'max-pool-size': workers,
    'force-max-concurrent-requests-per-process': 1,
    'pid-file': path.join(dir, 'pid'),
    'log-file': log,
    'instance-registry-dir': dir,
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const switches = [
    '--disable-turbocaching',
    '--disable-security-update-check',
    '--disable-anonymous-telemetry',
  ];
  const { env } = nodeEnvironment({ entry: faultsApp, workers, env: { BENCH_MARK: mark } }, port);
  const options = { env: { ...env, BENCH_ENTRY: faultsApp }, cwd: dir };
  const child = run(find('passenger'), ['start', path.dirname(entry), ...args, ...switches], options);
  await answering(port, child);
  return {
    name: 'Passenger',
    targets: [local(port)],
    frontPids: [Number(fs.readFileSync(path.join(dir, 'pid'), 'utf8'))],
    mark,
    workers,
    workerPids: async () => workersOf(mark).map(({ pid }) => pid),
    reload: async () => {
      const restart = ['restart-app', path.dirname(entry), '--ignore-app-not-running'];
      const command = run(find('passenger-config'), restart, {
        env: { ...process.env, PASSENGER_INSTANCE_REGISTRY_DIR: dir },
      });
      const [code] = (await once(command, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`passenger-config restart-app left with ${code}`);
    },
    stop: async () => {
      await stopAll([child]);
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}
