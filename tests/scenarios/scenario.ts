// What every scenario needs beyond `tests/support`: a gateway that is surely gone afterwards, requests as one line, and
// a look at what the kernel says is still running. It must not know any single scenario.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
// oxlint-disable-next-line import/no-unassigned-import -- it changes the contexts of tests
import '../support/last-first.ts';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { type Sluice, type StartOptions, startSluice } from '../support/sluice.ts';
import type { Snapshot, WorkerSnapshot } from '../support/snapshot.ts';

/** Flags for a test that has to know which request is with a worker and which waits in the queue. */
export const STRICT = ['--concurrency', '1'];

/** An app of this folder; those that several kinds of test share are in `tests/support/apps`. */
export const ownApp = (name: string): string =>
  path.join(fileURLToPath(new URL('./apps/', import.meta.url)), name);

/** A test's context, or the module `node:test` itself for a whole file. */
interface Cleanup {
  after(clean: () => void | Promise<void>): void;
}

/** Starts a gateway that is stopped, and made sure to be gone with all its workers, when the test has ended. */
export async function running(context: Cleanup, options: StartOptions): Promise<Sluice> {
  const sluice = await startSluice(options);
  context.after(() => end(sluice));
  return sluice;
}

/** Ends a gateway in whatever state a test has left it. */
export async function end(sluice: Sluice): Promise<void> {
  try {
    if (sluice.running) sluice.signal('SIGTERM');
    // A test may have left something open that a drain would wait for; the second signal does not.
    await sluice.finished(200).catch(() => {
      sluice.signal('SIGTERM');
    });
    await sluice.finished(6_000);
  } catch {
    await sluice.kill9();
  }
  try {
    await nothingLeftOf(sluice);
    // The directory of one that was started again is the other's.
    const lines = fs.existsSync(path.join(sluice.dir, 'stdout')) ? sluice.logs : [];
    const mistakes = lines.filter((line) => /although a worker was idle/.test(String(line['text'])));
    assert.deepEqual(mistakes, [], 'a request was refused that could have begun');
  } finally {
    for (const pid of processesOf(sluice)) process.kill(pid, 'SIGKILL');
    fs.rmSync(sluice.dir, { recursive: true, force: true });
  }
}

/** Waits until no process of this gateway's workers is left, however far down from npm or a shell. */
export async function nothingLeftOf(sluice: Sluice, deadlineMs = 5_000): Promise<void> {
  await eventually(() => processesOf(sluice).length === 0, {
    deadlineMs,
    what: 'the end of every process that the gateway started',
  });
}

/** Processes that carry this gateway's run directory in their environment. Where there is no /proc, none are seen. */
export function processesOf(sluice: Sluice): number[] {
  if (!fs.existsSync('/proc/self/environ')) return [];
  const mark = `SLUICE_CONTROL=${sluice.runDir}/`;
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && environment(name).includes(mark))
    .map(Number);
}

function environment(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** Whether the process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(
      fs.existsSync('/proc/self') ? fs.readFileSync(`/proc/${pid}/status`, 'utf8') : '',
    );
  } catch {
    return false;
  }
}

/** Waits for the end of processes: one that was killed gives up its memory, and with it its environment, a moment before
 * it counts as dead. */
export async function gone(pids: readonly number[]): Promise<void> {
  await eventually(() => !pids.some(isAlive), { deadlineMs: 5_000, what: `the end of ${pids.join(', ')}` });
}

/** A request as bytes. */
export function bytesOf(target: string, headers = '', method = 'GET'): string {
  return `${method} ${target} HTTP/1.1\r\nHost: app\r\n${headers}\r\n`;
}

/** One request on a connection of its own. */
export async function ask(
  sluice: Sluice,
  target: string,
  { headers = '', method = 'GET', body = '', deadlineMs = 15_000 } = {},
): Promise<RawResponse> {
  const connection = await RawConnection.connect(sluice.port);
  try {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    connection.send(bytesOf(target, headers + length, method) + body);
    return await connection.response({ toHead: method === 'HEAD', deadlineMs });
  } finally {
    connection.close();
  }
}

/** A request that was sent; its connection stays. */
export async function sent(sluice: Sluice, target: string, headers = ''): Promise<RawConnection> {
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf(target, headers));
  return connection;
}

/** The snapshot, once it is as wanted. */
export async function statusWhen(
  sluice: Sluice,
  wanted: (snapshot: Snapshot) => boolean,
  what: string,
  deadlineMs = 10_000,
): Promise<Snapshot> {
  let last: Snapshot | undefined;
  try {
    return await eventually(
      async () => {
        last = await sluice.status();
        return wanted(last) ? last : undefined;
      },
      { deadlineMs, what },
    );
  } catch (error) {
    throw new Error(`${what} did not come true; the last status was ${JSON.stringify(last)}`, {
      cause: error,
    });
  }
}

/** Every worker takes requests and holds none. */
export async function allReady(sluice: Sluice, workers: number): Promise<Snapshot> {
  return statusWhen(
    sluice,
    (snapshot) => snapshot.workers.filter((worker) => worker.state === 'ready').length === workers,
    `${workers} idle workers`,
  );
}

export const slotsHeld = (snapshot: Snapshot): number => snapshot.requests.in_service;

export const pidOf = (worker: WorkerSnapshot | undefined): number => {
  assert.ok(worker?.pid, 'the worker has a process');
  return worker.pid;
};

/** Asserts an error answer of the gateway. */
export function assertRefused(response: RawResponse, status: number, code: string): void {
  assert.deepEqual([response.status, response.headers.get('x-sluice-error')], [status, code]);
  if (status === 503) assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

/** The access log's record of the request to this target, once it is written. */
export async function recordOf(sluice: Sluice, target: string): Promise<Record<string, unknown>> {
  return eventually(
    () => sluice.logs.find((line) => line['event'] === 'access' && line['target'] === target),
    {
      what: `the access log line of ${target}`,
    },
  );
}

/** The other end of the app `hold.js`: says when a held request may go on, and what the app saw. */
export class Hold {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-hold-'));
  readonly app = ownApp('hold.js');
  /** Strict mode, as with {@link STRICT}. */
  readonly env = { HOLD_DIR: this.dir, SLUICE_WORKERS_CONCURRENCY: '1' };

  constructor(context: Cleanup) {
    context.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  release(name: string): void {
    fs.writeFileSync(path.join(this.dir, name), '');
  }

  /** `begin`, `end` and `overlap` with the path, in order. */
  get journal(): string[] {
    return this.#lines().map((line) => line.split(' ').slice(0, 2).join(' '));
  }

  /** The process that began this request. */
  pidOf(target: string): number {
    return Number(
      this.#lines()
        .find((line) => line.startsWith(`begin ${target} `))
        ?.split(' ')[2],
    );
  }

  async began(target: string): Promise<void> {
    await eventually(() => this.journal.includes(`begin ${target}`), { what: `${target} in a worker` });
  }

  #lines(): string[] {
    const file = path.join(this.dir, 'journal');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  }
}

/** Requests after which waits are predicted: the first of a worker says nothing, and eight others are enough. */
export const LEARNED_AFTER = 9;

/** Whether nobody listens at the port any more. */
export async function refuses(sluice: Sluice): Promise<boolean> {
  try {
    (await RawConnection.connect(sluice.port)).close();
    return false;
  } catch (error) {
    assert.match(String(error), /ECONNREFUSED/);
    return true;
  }
}

/** A command that profiles a worker. It is under way once a second one is refused, which is begun before it now and then. */
export async function underWay(
  sluice: Sluice,
  worker: number,
  command: string[],
): Promise<{ first: ReturnType<Sluice['cli']> }> {
  const named = ['--worker', String(worker)];
  return eventually(async () => {
    const first = sluice.cli([...command, ...named]);
    const isOver = first.then(() => true);
    for (;;) {
      const { stderr } = await sluice.cli(['profile', '--duration-ms', '50', ...named]);
      if (stderr.includes('is already being profiled')) return { first };
      if (await Promise.race([isOver, Promise.resolve(false)])) return undefined;
    }
  });
}
