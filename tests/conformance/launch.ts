/**
 * Starts an app, under `sluice start` or bare, waits until it answers, and stops it again. Knows how processes are run
 * and nothing of what is asked of the app.
 */

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { askControl } from '../support/control.ts';
import { ask, type Ask } from './client.ts';
import { quietTools } from './prepare.ts';
import { ownRuntime, type Runtime } from './runtime.ts';

const start_timeout_ms = 60_000;
const stop_timeout_ms = 20_000;
const end_timeout_ms = 5_000;
const output_kept_chars = 20_000;
const sluice = resolve(import.meta.dirname, '../../packages/sluice/bin/sluice.js');

export type Mode = 'sluice' | 'bare';

/** How an app is started; `frameworks.ts` says more of it. */
export interface Launchable {
  readonly name: string;
  readonly start: { readonly entry: string } | { readonly command: readonly [string, ...string[]] };
  readonly env?: Readonly<Record<string, string>>;
  readonly hostUnset?: boolean;
  /** Asked until it says 200; `/` unless said. */
  readonly steady?: Omit<Ask, 'port'>;
}

export interface Running {
  readonly port: number;
  /** What the process said so far, the last part of it. */
  output(): string;
  /** `sluice status --json`; only under Sluice. */
  status(): Promise<unknown>;
  /** Names of the classes of `sluice classes --json`; only under Sluice. */
  classes(): Promise<string[]>;
  /** `sluice reload`, until the new workers serve; only under Sluice. */
  reload(): Promise<void>;
  /** Sends SIGTERM and waits; returns the exit code or the signal it ended by. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** Starts the app in `folder`; another process may take the free port first, so that is tried twice. */
export async function launch(
  framework: Launchable,
  folder: string,
  runtime: Runtime,
  mode: Mode,
): Promise<Running> {
  try {
    return await launchOnce(framework, folder, runtime, mode);
  } catch (error) {
    if (!/EADDRINUSE|SLU-PORT-IN-USE/.test(String(error))) throw error;
    return launchOnce(framework, folder, runtime, mode);
  }
}

async function launchOnce(
  framework: Launchable,
  folder: string,
  runtime: Runtime,
  mode: Mode,
): Promise<Running> {
  const port = await freePort();
  const runDir = mkdtempSync(join(tmpdir(), 'slc-'));
  const [command, ...args] = commandLine(framework, runtime, mode, port, runDir);
  const env = environment(framework, folder, runtime, mode, port);
  // A group of its own, so that whatever a bare command leaves behind can be ended with it.
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | NodeJS.Signals | null>((done) => {
    child.once('error', () => done(null));
    child.once('exit', (code, signal) => done(code ?? signal));
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-output_kept_chars);
    });
  }

  const stop = async () => {
    try {
      return await stopChild(child, ended, mode);
    } finally {
      // Whatever was left behind may hold the other ends, and would keep the tests from ending.
      child.stdout.destroy();
      child.stderr.destroy();
      rmSync(runDir, { recursive: true, force: true });
    }
  };
  const said = () => `${[command, ...args].join(' ')}\n${output}`;
  try {
    await untilAnswering(port, child, framework.steady);
  } catch (error) {
    await stop();
    throw new Error(`${framework.name} did not start: ${String(error)}\n${said()}`, { cause: error });
  }
  return {
    port,
    output: said,
    stop,
    status: async () => (await askControl(runDir, 'status'))['status'],
    classes: () => classNames(runDir),
    reload: async () => void (await runCli(runDir, ['reload'])),
  };
}

function commandLine(
  framework: Launchable,
  runtime: Runtime,
  mode: Mode,
  port: number,
  runDir: string,
): [string, ...string[]] {
  const { start } = framework;
  if (mode === 'bare')
    return 'entry' in start ? [join(runtime.bin, 'node'), start.entry] : [...start.command];
  const address = ['--host', '127.0.0.1', '--port', String(port), '--admin', '127.0.0.1:0'];
  const flags = [...address, '--run-dir', runDir, '--workers', '2'];
  const what = 'entry' in start ? [start.entry, ...flags] : [...flags, '--', ...start.command];
  return [join(ownRuntime.bin, 'node'), sluice, 'start', ...what];
}

function environment(
  framework: Launchable,
  folder: string,
  runtime: Runtime,
  mode: Mode,
  port: number,
): NodeJS.ProcessEnv {
  // What belongs to npm, tsx and the test runner around us is not part of a user's shell.
  const shell = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_|TSX_|PORT$|HOST$|HOSTNAME$|WEB_CONCURRENCY$)/.test(name),
  );
  const path = [runtime.bin, join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
  const addresses = {
    ...(framework.hostUnset === true ? {} : { HOST: '127.0.0.1' }),
    ...(mode === 'bare' ? { PORT: String(port), NODE_ENV: 'production' } : {}),
  };
  return { ...Object.fromEntries(shell), ...quietTools, ...framework.env, ...addresses, PATH: path };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

async function untilAnswering(
  port: number,
  child: ChildProcess,
  steady: Omit<Ask, 'port'> = { path: '/' },
): Promise<void> {
  const deadline_ms = performance.now() + start_timeout_ms;
  let last = 'nothing was asked yet';
  while (performance.now() < deadline_ms) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    try {
      const { status } = await ask({ port, ...steady });
      if (status === 200) return;
      last = `status ${status}`;
    } catch (error) {
      last = String(error);
    }
    await delay(50);
  }
  throw new Error(`no page within ${start_timeout_ms} ms, last: ${last}`);
}

/** Whether anything still accepts connections there. */
export async function isListening(port: number): Promise<boolean> {
  try {
    await ask({ port, path: '/' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
  }
}

/** Those of the processes that are still there after all have had time to end. */
export async function leftOf(pids: Iterable<number>): Promise<number[]> {
  const deadline_ms = performance.now() + end_timeout_ms;
  let left = [...pids].filter(isAlive);
  while (left.length > 0 && performance.now() < deadline_ms) {
    await delay(20);
    left = left.filter(isAlive);
  }
  return left;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A process that has ended, and whose new parent has not taken notice, holds no more than its number.
  const stat = `/proc/${pid}/stat`;
  return !(existsSync(stat) && / Z /.test(readFileSync(stat, 'latin1')));
}

async function stopChild(
  child: ChildProcess,
  ended: Promise<number | NodeJS.Signals | null>,
  mode: Mode,
): Promise<number | NodeJS.Signals | null> {
  if (child.pid === undefined) return null;
  // A bare command is stopped as a terminal does it, the whole group; the gateway must end its workers by itself.
  signal(mode === 'bare' ? -child.pid : child.pid, 'SIGTERM');
  const status = await Promise.race([ended, delay(stop_timeout_ms, 'late' as const, { ref: false })]);
  signal(-child.pid, 'SIGKILL');
  if (status === 'late') throw new Error(`still running ${stop_timeout_ms} ms after SIGTERM`);
  return status;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

async function classNames(runDir: string): Promise<string[]> {
  const { classes } = (await askControl(runDir, 'classes'))['classes'] as { classes: { class: string }[] };
  return classes.map((known) => known.class);
}

function runCli(runDir: string, args: readonly string[]): Promise<string> {
  const node = join(ownRuntime.bin, 'node');
  return new Promise((done, fail) => {
    execFile(node, [sluice, ...args, '--run-dir', runDir], (error, stdout, stderr) => {
      if (error) fail(new Error(`sluice ${args.join(' ')}: ${stderr}`, { cause: error }));
      else done(stdout);
    });
  });
}
