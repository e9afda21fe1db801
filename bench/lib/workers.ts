// Worker processes without a gateway: this program writes what the gateway writes, one request at a time over one kept connection.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import { eventually } from '../../tests/support/eventually.ts';
import { cpuMeter } from './processes.ts';
import { sum } from './report.ts';

const preload = new URL('../../packages/preload/dist/index.js', import.meta.url).href;
/** A loop that ends when this program was killed. */
const AWAKE = 'const { ppid } = process; while (process.ppid === ppid) for (let at = 0; at < 1e7; at += 1);';

export interface Started {
  readonly node: string;
  /** Script and its arguments. It listens on `LIGHT_PATH`. */
  readonly command: readonly string[];
  /** Path of a unix socket of its own. */
  readonly socketPath: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly hasPreload: boolean;
  readonly target: string;
  /** Further fields of the gateway's label, such as `;weight=16`. */
  readonly label?: () => string;
}

export interface Worker {
  /** CPU microseconds of one of so many requests. */
  serve(requests: number): Promise<number>;
  /** Body of the latest answer. */
  body(): string;
  stop(): void;
}

/** Keeps every core awake by a loop of the lowest priority: the kernel's wake-up of a core that sleeps counts for the process that it wakes. */
export function keepCoresAwake(): void {
  for (let core = 0; core < os.availableParallelism(); core += 1) {
    const loop = spawn(process.execPath, ['-e', AWAKE], { stdio: 'ignore' });
    if (loop.pid !== undefined) os.setPriority(loop.pid, os.constants.priority.PRIORITY_LOW);
    loop.unref();
    process.on('exit', () => loop.kill('SIGKILL'));
  }
}

export async function startWorker(started: Started): Promise<Worker> {
  const { node, command, socketPath, hasPreload } = started;
  const control = net.createServer((socket) => socket.on('error', () => {}).resume());
  control.listen(`${socketPath}.control`).unref();
  const sluice = {
    SLUICE_SOCKET: socketPath,
    SLUICE_CONTROL: `${socketPath}.control`,
    SLUICE_WORKER: '1',
    SLUICE_CONCURRENCY: '1',
    SLUICE_MAIN_WAIT_MS: '1',
  };
  const child = spawn(node, [...(hasPreload ? [`--import=${preload}`] : []), ...command], {
    env: { ...process.env, LIGHT_PATH: socketPath, ...(hasPreload && sluice), ...started.env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const socket = await eventually(async () => {
    const opened = net.connect(socketPath);
    await once(opened, 'connect');
    return opened;
  });
  const asked = asker(socket, started);
  return {
    async serve(count) {
      const used_s = cpuMeter([child.pid ?? 0]);
      for (let at = 0; at < count; at += 1) await asked.ask();
      return (sum(used_s()) * 1e6) / count;
    },
    body: () => asked.body(),
    stop() {
      child.kill('SIGKILL');
      socket.destroy();
      control.close();
    },
  };
}

function asker(socket: net.Socket, started: Started): { ask: () => Promise<void>; body: () => string } {
  let id = 0;
  let text = '';
  let body = '';
  let answered = (): void => {};
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
    const end = text.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (end < 0 || text.length < end + 4 + length) return;
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
    body = text.slice(end + 4);
    text = '';
    answered();
  });
  socket.once('end', () => {
    throw new Error('the worker has closed the connection');
  });
  const ask = (): Promise<void> => {
    id += 1;
    const label = `id=${id};token=0123456789abcdef${started.label?.() ?? ''};peer=203.0.113.9:51234;local=192.0.2.1:3000;proto=http`;
    return new Promise((done) => {
      answered = done;
      socket.write(
        `GET ${started.target} HTTP/1.1\r\nhost: shop.test\r\naccept: */*\r\nX-Sluice-Request: ${label}\r\n\r\n`,
      );
    });
  };
  return { ask, body: () => body };
}

/** CPU microseconds of a request of each worker, round by round; each round begins with another worker. */
export async function serveInTurns<Side extends string>(
  sides: readonly Side[],
  workers: readonly Worker[],
  runs: number,
  requests: number,
): Promise<Record<Side, number>[]> {
  const found: Record<Side, number>[] = [];
  for (let round = 0; round < runs; round += 1) {
    const figures: Partial<Record<Side, number>> = {};
    for (let turn = 0; turn < sides.length; turn += 1) {
      const at = (round + turn) % sides.length;
      const [side, worker] = [sides[at], workers[at]];
      if (side !== undefined && worker !== undefined) figures[side] = await worker.serve(requests);
    }
    found.push(figures as Record<Side, number>);
  }
  return found;
}
