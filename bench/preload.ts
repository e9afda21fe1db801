// The preload's cost for a light request: CPU time of the worker process, with and without the preload, in turns.
//
//   npx tsx bench/preload.ts [--quick] [--runs N] [--requests N] [--only trivial,express]
//
// No gateway is there: this program writes what the gateway writes, one request at a time over one kept connection, the same bytes to
// each process. `sampled` is what a worker gets whose classes are light: of 16 requests, one is measured. `each` has every request
// measured, as those of new classes are. SLUICE_TEST_NODE names another Node.js for the processes. Rounds are short and many,
// because a machine's pace drifts; a figure is the median of the rounds' differences. Every core is kept awake meanwhile by a loop of the
// lowest priority: else the kernel's wake-up of a core that sleeps counts for whoever is woken, and was up to twice what the preload adds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../tests/support/eventually.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, printTable, sum } from './lib/report.ts';

const ADDED_US_MAX = 8;
const APPS = { trivial: '/', express: '/api/items/17' };
const SIDES = ['plain', 'sampled', 'each'] as const;
const SAMPLE = 16;
const WARM_UP = 4_000;

/** A loop that ends when this program was killed. */
const AWAKE = 'const { ppid } = process; while (process.ppid === ppid) for (let at = 0; at < 1e7; at += 1);';

type App = keyof typeof APPS;
type Side = (typeof SIDES)[number];
type Figures = Record<Side, number>;

interface Worker {
  /** CPU microseconds of one of so many requests. */
  serve(requests: number): Promise<number>;
  stop(): void;
}

const options = readOptions({ runs: 60, runsQuick: 6, workers: 1, numbers: { requests: [1_000, 300] } });
const { requests = 0 } = options.numbers;
const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
const preload = new URL('../packages/preload/dist/index.js', import.meta.url).href;
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-light-'));
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
for (let core = 0; core < os.availableParallelism(); core += 1) keepAwake();
const about = describe(`What the preload adds to ${node}`, options);
const rounds: Partial<Record<App, Figures[]>> = {};
for (const app of Object.keys(APPS) as App[])
  if (options.only.length === 0 || options.only.includes(app)) rounds[app] = await compare(app);
printTable(
  ['app', ...SIDES.map((side) => `${side}, µs`), 'sampled adds, µs', 'each adds, µs', 'sampled / plain'],
  Object.entries(rounds).map(([app, figures]) => [
    app,
    ...SIDES.map((side) => median(figures.map((figure) => figure[side])).toFixed(1)),
    added(figures, 'sampled').toFixed(1),
    added(figures, 'each').toFixed(1),
    median(figures.map(({ sampled, plain }) => sampled / plain)).toFixed(3),
  ]),
);
conclude('preload', options, about, bars(), { node, rounds });

function keepAwake(): void {
  const loop = spawn(process.execPath, ['-e', AWAKE], { stdio: 'ignore' });
  if (loop.pid !== undefined) os.setPriority(loop.pid, os.constants.priority.PRIORITY_LOW);
  loop.unref();
  process.on('exit', () => loop.kill('SIGKILL'));
}

async function compare(app: App): Promise<Figures[]> {
  const workers = await Promise.all(SIDES.map((side) => start(app, side)));
  const found: Figures[] = [];
  try {
    for (const worker of workers) await worker.serve(WARM_UP);
    for (let round = 0; round < options.runs; round += 1) {
      const figures: Partial<Figures> = {};
      for (let turn = 0; turn < SIDES.length; turn += 1) {
        const at = (round + turn) % SIDES.length;
        const [side, worker] = [SIDES[at], workers[at]];
        if (side !== undefined && worker !== undefined) figures[side] = await worker.serve(requests);
      }
      found.push(figures as Figures);
    }
  } finally {
    for (const worker of workers) worker.stop();
  }
  return found;
}

async function start(app: App, side: Side): Promise<Worker> {
  const socketPath = path.join(dir, `${app}-${side}.sock`);
  const control = net.createServer((socket) => socket.on('error', () => {}).resume());
  control.listen(`${socketPath}.control`).unref();
  const sluice = {
    SLUICE_SOCKET: socketPath,
    SLUICE_CONTROL: `${socketPath}.control`,
    SLUICE_WORKER: '1',
    SLUICE_CONCURRENCY: '1',
    SLUICE_MAIN_WAIT_MS: '1',
  };
  const script = path.join(import.meta.dirname, 'apps/light.cjs');
  const child = spawn(node, [...(side === 'plain' ? [] : [`--import=${preload}`]), script, app], {
    env: { ...process.env, LIGHT_PATH: socketPath, ...(side !== 'plain' && sluice) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const socket = await eventually(async () => {
    const opened = net.connect(socketPath);
    await once(opened, 'connect');
    return opened;
  });
  const ask = asker(socket, APPS[app], side);
  return {
    async serve(count) {
      const used_s = cpuMeter([child.pid ?? 0]);
      for (let asked = 0; asked < count; asked += 1) await ask();
      return (sum(used_s()) * 1e6) / count;
    },
    stop() {
      child.kill('SIGKILL');
      socket.destroy();
      control.close();
    },
  };
}

function asker(socket: net.Socket, target: string, side: Side): () => Promise<void> {
  let id = 0;
  let text = '';
  let answered = (): void => {};
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
    const end = text.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (end < 0 || text.length < end + 4 + length) return;
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
    text = '';
    answered();
  });
  socket.once('end', () => {
    throw new Error('the worker has closed the connection');
  });
  return () => {
    id += 1;
    const weight = side === 'sampled' ? `;weight=${Math.random() < 1 / SAMPLE ? SAMPLE : 0}` : '';
    const label = `id=${id};token=0123456789abcdef${weight};peer=203.0.113.9:51234;local=192.0.2.1:3000;proto=http`;
    return new Promise((done) => {
      answered = done;
      socket.write(
        `GET ${target} HTTP/1.1\r\nhost: shop.test\r\naccept: */*\r\nX-Sluice-Request: ${label}\r\n\r\n`,
      );
    });
  };
}

function added(figures: Figures[], side: Side): number {
  return median(figures.map((figure) => figure[side] - figure.plain));
}

function bars(): Bar[] {
  return Object.entries(rounds).map(([app, figures]) => {
    const added_us = added(figures, 'sampled');
    return {
      what: `${app}: CPU time that the preload adds to a request of a light class`,
      bar: `≤ ${ADDED_US_MAX} µs`,
      figure: `${added_us.toFixed(1)} µs`,
      met: added_us <= ADDED_US_MAX,
    };
  });
}
