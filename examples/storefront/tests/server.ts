/** Starts the built shop, or its service, in a process of its own, on a port that the system chooses. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Shop {
  url: string;
  stop(): Promise<number | null>;
}

const start_timeout_ms = 20_000;

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** `bundle`: which one of `folder`. */
/** With a database of its own, unless `env` names one in `STOREFRONT_DATA`. */
export async function startShop(
  env: Record<string, string> = {},
  bundle = 'server.js',
  folder = dist,
): Promise<Shop> {
  const entry = join(folder, bundle);
  const data = await mkdtemp(join(tmpdir(), 'storefront-'));
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, NODE_ENV: 'production', PORT: '0', STOREFRONT_DATA: data, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await portOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
      await rm(data, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}

async function portOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The shop has no output to read its port from.');
  const lines = createInterface({ input: child.stdout });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`The shop did not listen within ${start_timeout_ms} ms.`));
    }, start_timeout_ms);
    lines.on('line', (line) => {
      const port = /listens? on port (\d+)/.exec(line)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`The shop exited with ${code} before it listened.`));
    });
  });
}
