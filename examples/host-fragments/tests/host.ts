/** Starts the host in Python, in a process of its own, on a port that the system chooses. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 30_000;

export const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';

export interface Host {
  readonly url: string;
  /** What it has said of fragments that are not there. */
  readonly faults: () => string;
}

/** Ends with the test. */
export async function startHost(t: TestContext, env: Record<string, string>): Promise<Host> {
  const app = fileURLToPath(new URL('../host/app.py', import.meta.url));
  const child = spawn('python3', [app], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(async () => stop(child));
  let faults = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (faults += text));
  const lines = createInterface({ input: child.stdout });
  const [url] = (await once(lines, 'line', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })) as [string];
  return { url, faults: () => faults };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A server in place of Sluice; its address for batches. Ends with the test. */
export async function serve(t: TestContext, listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch`;
}
