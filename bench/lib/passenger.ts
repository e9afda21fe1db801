// Passenger Standalone with its own HTTP server, which is all that Debian ships besides the module for Apache: one request per process.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/support/ports.ts';
import { answering, find, run, stopAll, temporaryDir } from './run.ts';
import { type AppToServe, nodeEnvironment } from './servers.ts';

export interface Passenger {
  port: number;
  /** Process id of its watchdog. */
  watchdog: number;
  /** Directory of the app, as its commands name it. */
  appDir: string;
  /** Directory in which its instance is registered, for its commands. */
  dir: string;
  stop: () => Promise<void>;
}

export async function runPassenger(app: AppToServe): Promise<Passenger> {
  const port = await freePort();
  const entry = fileURLToPath(new URL('../apps/late-entry.cjs', import.meta.url));
  const appDir = path.dirname(entry);
  const dir = temporaryDir('bench-passenger-');
  const flags = {
    engine: 'builtin',
    address: '127.0.0.1',
    port,
    environment: 'production',
    'app-type': 'node',
    'startup-file': entry,
    nodejs: process.execPath,
    'min-instances': app.workers,
    'max-pool-size': app.workers,
    'force-max-concurrent-requests-per-process': 1,
    'pid-file': path.join(dir, 'pid'),
    'log-file': path.join(dir, 'log'),
    'instance-registry-dir': dir,
  };
  const switches = [
    '--disable-turbocaching',
    '--disable-security-update-check',
    '--disable-anonymous-telemetry',
  ];
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { env } = nodeEnvironment(app, port);
  const child = run(find('passenger'), ['start', appDir, ...args, ...switches], {
    env: { ...env, BENCH_ENTRY: app.entry },
    cwd: dir,
  });
  await answering(port, child);
  return {
    port,
    watchdog: Number(fs.readFileSync(path.join(dir, 'pid'), 'utf8')),
    appDir,
    dir,
    stop: async () => {
      await stopAll([child]);
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}
