// PM2's cluster mode, installed from npm on first use, with a home of its own: a PM2 that this user runs is left alone.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { freePort } from '../../tests/support/ports.ts';
import { installFromNpm, versionIn } from './npm.ts';
import { familyOf } from './processes.ts';
import { answering, local, run, temporaryDir } from './run.ts';
import type { AppToServe, Server } from './servers.ts';

const PM2_VERSION = '7';
const LEAVE_MS_MAX = 10_000;

export interface Pm2 extends Server {
  reload(): Promise<void>;
}

/** `saysReady`: whether the app sends `ready`, for which PM2 then waits. */
export async function startPm2(app: AppToServe, saysReady = false): Promise<Pm2> {
  const pm2 = installPm2().entry;
  const port = await freePort();
  const dir = temporaryDir('bench-pm2-');
  const env = { ...process.env, PM2_HOME: path.join(dir, 'home') };
  const file = path.join(dir, 'ecosystem.json');
  const settings = {
    name: 'bench',
    script: app.entry,
    cwd: path.dirname(app.entry),
    instances: app.workers,
    exec_mode: 'cluster',
    // It takes the new one's word for being ready, and gives the old one time to finish.
    wait_ready: saysReady,
    listen_timeout: 10_000,
    kill_timeout: LEAVE_MS_MAX,
    // Else it would give up after 16 quick deaths.
    max_restarts: 1_000_000,
    out_file: '/dev/null',
    error_file: '/dev/null',
    env: { NODE_ENV: 'production', ...app.env, PORT: String(port) },
  };
  fs.writeFileSync(file, JSON.stringify({ apps: [settings] }));
  const call = (args: string[]): void => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [pm2, ...args], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`pm2 ${args.join(' ')} left with ${status}: ${stdout}${stderr}`);
  };
  const killAtExit = () => spawnSync(process.execPath, [pm2, 'kill'], { env, stdio: 'ignore' });
  process.prependOnceListener('exit', killAtExit);
  call(['start', file]);
  await answering(port);
  const daemon = Number(fs.readFileSync(path.join(dir, 'home/pm2.pid'), 'utf8'));
  return {
    name: 'PM2',
    targets: [local(port)],
    frontPids: [daemon],
    workerPids: async () => familyOf(daemon).filter((member) => member !== daemon),
    reload: async () => {
      const child = run(process.execPath, [pm2, 'reload', 'bench', '--silent'], { env });
      await once(child, 'exit');
      if (child.exitCode !== 0) throw new Error(`pm2 reload left with ${child.exitCode}`);
    },
    stop: async () => {
      killAtExit();
      process.removeListener('exit', killAtExit);
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function pm2Version(): string {
  return versionIn(installPm2().dir, 'pm2');
}

function installPm2(): { dir: string; entry: string } {
  const file = 'pm2/bin/pm2';
  const dir = installFromNpm(`pm2-${PM2_VERSION}`, [`pm2@${PM2_VERSION}`], file);
  return { dir, entry: path.join(dir, 'node_modules', file) };
}
