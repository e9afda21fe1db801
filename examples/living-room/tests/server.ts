/** Builds the living room and starts its server in a process of its own, on a port that the system chooses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildServer } from '../scripts/build.js';

export interface Served {
  readonly url: string;
  /** Folder of the build. */
  readonly folder: string;
  stop(): Promise<void>;
}

const dist = join(import.meta.dirname, '../dist');

export async function startRoom(): Promise<Served> {
  // Of its own, because other tests build at the same time; in dist, where packages are found.
  await mkdir(dist, { recursive: true });
  const folder = await mkdtemp(join(dist, 'test-'));
  await buildServer(folder);
  const child = spawn(process.execPath, [join(folder, 'server.js')], {
    env: { ...process.env, NODE_ENV: 'production', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let port: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    port = /listens on port (\d+)/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  child.stdout.resume();
  if (port === undefined) throw new Error('The living room exited before it listened.');
  return {
    url: `http://127.0.0.1:${port}`,
    folder,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
