// Starts the real binary the way a user does, in a directory of its own with free ports, and stops it without leftovers.
//
// It runs `packages/sluice/bin/sluice.js`; with SLUICE_BINARY set, that binary directly, told by SLUICE_PRELOAD where the
// preload is.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { askControl } from './control.ts';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';

export const repositoryDir = fileURLToPath(new URL('../../', import.meta.url));
export const appsDir = fileURLToPath(new URL('./apps/', import.meta.url));

export const shimFile = path.join(repositoryDir, 'packages/sluice/bin/sluice.js');

/** A fixture app, `app('spin.js')`. */
export const app = (name: string): string => path.join(appsDir, name);

export interface StartOptions {
  /** Script to serve. */
  entry?: string;
  /** Command to serve instead: `['npm', 'run', 'start']`. */
  command?: string[];
  /** `sluice dev` instead of `sluice start`; it has no `--workers`. */
  dev?: boolean;
  /** Node.js that runs `packages/sluice/bin/sluice.js` in front of the gateway, as package managers install it. */
  shim?: string;
  /** Further flags of `sluice start`. */
  flags?: string[];
  /** Port of clients; a free one unless said. */
  port?: number;
  /** `false` for a gateway without an admin address. */
  admin?: boolean;
  /** Workers; 2 unless said, and what the configuration says for `null`. */
  workers?: number | null;
  /** Further environment of the gateway. */
  env?: Record<string, string>;
  /** Text of a `sluice.toml`, kept in the temporary directory. Mind that `[app] cwd` is relative to it. */
  config?: string;
  /** A program with its arguments that runs the gateway, such as one that takes a privilege from it. */
  through?: string[];
  /** Run directory, which the caller takes away; one in the temporary directory unless said. */
  runDir?: string;
  /** Directory to start in; the temporary directory unless said. */
  cwd?: string;
  /** Whether to wait until `/.sluice/ready` says yes; `false` returns once the process runs. */
  waitUntilReady?: boolean;
  startTimeoutMs?: number;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** The gateway left before it was ready. */
export class StartFailed extends Error {
  readonly finished: Finished;
  constructor(finished: Finished) {
    super(
      `sluice left with ${finished.code ?? finished.signal} before it was ready:\n${finished.stderr}${finished.stdout}`,
    );
    this.finished = finished;
  }
}

export class Sluice {
  readonly url: string;
  readonly port: number;
  readonly runDir: string;
  /** `http://127.0.0.1:PORT` of metrics and probes. */
  readonly admin: string;
  readonly dir: string;
  readonly child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor(child: ChildProcess, dir: string, runDir: string, port: number, adminPort: number) {
    this.child = child;
    this.dir = dir;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.runDir = runDir;
    this.admin = `http://127.0.0.1:${adminPort}`;
    this.#exited = exited(child);
  }

  /** The snapshot of `sluice status --json`. */
  async status(): Promise<Snapshot> {
    return snapshotOf((await askControl(this.runDir, 'status'))['status']);
  }

  /** Any other command against this gateway. */
  async cli(args: string[], env: Record<string, string> = {}): Promise<Finished> {
    return runSluice([...args, '--run-dir', this.runDir], { env });
  }

  /** Process of the gateway itself, not of a wrapper around it. */
  async gatewayPid(): Promise<number> {
    return (await this.status()).pid;
  }

  get stdout(): string {
    return fs.readFileSync(path.join(this.dir, 'stdout'), 'utf8');
  }

  get stderr(): string {
    return fs.readFileSync(path.join(this.dir, 'stderr'), 'utf8');
  }

  /** Lines of the log that are JSON. */
  get logs(): Record<string, unknown>[] {
    return this.stdout
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits until the process is gone. */
  async finished(deadlineMs = 30_000): Promise<Finished> {
    await eventually(() => !this.running, { deadlineMs, what: 'the end of the gateway' });
    await this.#exited;
    return {
      code: this.child.exitCode,
      signal: this.child.signalCode,
      stdout: this.stdout,
      stderr: this.stderr,
    };
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** SIGTERM, then SIGKILL to whatever is left after the deadline; removes the directory. */
  async stop(deadlineMs = 30_000): Promise<Finished> {
    if (this.running) this.child.kill('SIGTERM');
    try {
      return await this.finished(deadlineMs);
    } catch (error) {
      await this.kill9();
      throw error;
    } finally {
      fs.rmSync(this.dir, { recursive: true, force: true });
    }
  }

  /** SIGKILL to the gateway, as the kernel would do when memory runs out. The directory stays until `stop`. */
  async kill9(): Promise<void> {
    this.killNow();
    await this.#exited;
  }

  /** Sends the SIGKILL of `kill9` and does not wait. A wrapper around the gateway is killed too. */
  killNow(): void {
    for (const target of new Set([this.#pidFromFile(), this.running ? this.child.pid : undefined])) {
      try {
        if (target !== undefined) process.kill(target, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
  }

  #pidFromFile(): number | undefined {
    try {
      const pid = Number(fs.readFileSync(path.join(this.runDir, 'sluice.pid'), 'utf8').trim());
      return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Starts `sluice start` and waits until it is ready. Throws `StartFailed` if it leaves before. */
export async function startSluice(options: StartOptions): Promise<Sluice> {
  // The path of a unix socket has room for about a hundred bytes, so the name is short.
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-'));
  const runDir = options.runDir ?? path.join(dir, 'run');
  const [port, adminPort] = [options.port ?? (await freePort()), await freePort()];
  const flags = [
    '--run-dir',
    runDir,
    '--port',
    String(port),
    '--admin',
    options.admin === false ? 'off' : `127.0.0.1:${adminPort}`,
  ];
  const isDev = options.dev ?? false;
  if (options.workers !== null && !isDev) flags.push('--workers', String(options.workers ?? 2));
  if (options.config !== undefined) {
    const file = path.join(dir, 'sluice.toml');
    fs.writeFileSync(file, options.config);
    flags.push('--config', file);
  }
  flags.push(...(options.flags ?? []));
  const target = options.command === undefined ? [] : ['--', ...options.command];
  const args = [
    isDev ? 'dev' : 'start',
    ...(options.entry === undefined ? [] : [options.entry]),
    ...flags,
    ...target,
  ];

  const [sluiceProgram, sluiceArgs] =
    options.shim === undefined ? sluiceCommand(args) : [options.shim, [shimFile, ...args]];
  const binary = process.env['SLUICE_BINARY'];
  const shimEnv = options.shim === undefined || binary === undefined ? {} : { SLUICE_BINARY: binary };
  const [program = sluiceProgram, ...programArgs] = [
    ...(options.through ?? []),
    sluiceProgram,
    ...sluiceArgs,
  ];
  // Files instead of pipes: a test that does not read must not make the gateway wait, and reading costs a benchmark CPU.
  const [stdout, stderr] = ['stdout', 'stderr'].map((name) => fs.openSync(path.join(dir, name), 'a'));
  const child = spawn(program, programArgs, {
    cwd: options.cwd ?? dir,
    env: cleanEnvironment({ ...shimEnv, ...options.env }),
    stdio: ['ignore', stdout, stderr],
  });
  for (const file of [stdout, stderr]) if (file !== undefined) fs.closeSync(file);
  const sluice = new Sluice(child, dir, runDir, port, adminPort);
  const killAtExit = () => {
    sluice.killNow();
  };
  process.once('exit', killAtExit);
  child.once('exit', () => process.removeListener('exit', killAtExit));
  if (options.waitUntilReady ?? true) await ready(sluice, options.startTimeoutMs ?? 60_000);
  return sluice;
}

/** Runs any command of the CLI to its end. */
export async function runSluice(
  args: string[],
  { env, cwd }: Pick<StartOptions, 'env' | 'cwd'> = {},
): Promise<Finished> {
  const [program, programArgs] = sluiceCommand(args);
  const child = spawn(program, programArgs, {
    env: cleanEnvironment(env),
    cwd: cwd ?? os.tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode, ...output };
}

async function ready(sluice: Sluice, deadlineMs: number): Promise<void> {
  try {
    await eventually(
      async () => {
        if (!sluice.running) return 'gone';
        return (await fetch(`${sluice.url}/.sluice/ready`)).status === 200;
      },
      { deadlineMs, what: 'readiness of the gateway' },
    );
  } catch (error) {
    const output = `${sluice.stderr}${sluice.stdout}`;
    await sluice.kill9();
    fs.rmSync(sluice.dir, { recursive: true, force: true });
    throw new Error(`the gateway is not ready; it said:\n${output}`, { cause: error });
  }
  if (!sluice.running) {
    const finished = await sluice.finished();
    fs.rmSync(sluice.dir, { recursive: true, force: true });
    throw new StartFailed(finished);
  }
}

export function sluiceCommand(args: string[]): [string, string[]] {
  const binary = process.env['SLUICE_BINARY'];
  const program = binary ?? shimFile;
  if (!fs.existsSync(program)) throw new Error(`${program} does not exist; run \`make build\` first`);
  return binary === undefined ? [process.execPath, [program, ...args]] : [program, args];
}

/** The environment of a fresh shell: nothing of a test runner's or of the caller's own settings reaches the gateway. */
export function cleanEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const dropped =
    /^(SLUICE_|npm_)|^(PORT|HOST|NODE_ENV|NODE_OPTIONS|NODE_TEST_CONTEXT|NODE_CHANNEL_FD|WEB_CONCURRENCY)$/;
  const kept = Object.entries(process.env).filter(([name]) => !dropped.test(name));
  const preload = process.env['SLUICE_PRELOAD'] ?? path.join(repositoryDir, 'packages/preload/dist/index.js');
  const direct = process.env['SLUICE_BINARY'] === undefined ? {} : { SLUICE_PRELOAD: preload };
  const cache = path.join(os.tmpdir(), `slu-compiled-${process.getuid?.() ?? 0}`);
  const own = { CACHE_DIRECTORY: cache };
  return { ...Object.fromEntries(kept), ...direct, ...own, ...extra };
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // A program that cannot be run emits `error`; `running` then stays true and the caller's deadline tells.
  await once(child, 'exit').catch(() => undefined);
}
