// Programs that a benchmark starts: found, run, waited for and ended, with what the report says of them. All end with this process.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { eventually } from '../../tests/support/eventually.ts';

/** Debian keeps servers where the path of an ordinary user does not lead. `from`: the package of what no benchmark installs. */
export function find(program: string, from?: string): string {
  const dirs = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  const found = dirs.map((dir) => path.join(dir, program)).find((file) => fs.existsSync(file));
  const remedy =
    from === undefined ? `run bench/install-peers.sh ${program}` : `it is part of the package ${from}`;
  if (found === undefined)
    throw new Error(`${program} is not installed; ${remedy}, or leave it out with \`--only\``);
  return found;
}

/** First line of what a program says of its version. */
export function versionOf(program: string, flag: string): string {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' });
  return `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n')[0] ?? '';
}

const commands: string[] = [];

/** Every command line that started a server, for the report. */
export function commandsRun(): string[] {
  return [...new Set(commands)];
}

const configurations: Record<string, string> = {};

/** The last configuration of each kind, to keep with the results. */
export function configurationsUsed(): Record<string, string> {
  return configurations;
}

/** Keeps a configuration for the report, and hands it on. */
export function configuration(name: string, text: string): string {
  configurations[name] = text;
  return text;
}

export function run(
  program: string,
  args: string[],
  { isQuiet = false, ...options }: { env?: NodeJS.ProcessEnv; cwd?: string; isQuiet?: boolean } = {},
): ChildProcess {
  commands.push([path.basename(program), ...args].join(' '));
  // Words of some on stderr are no news.
  const child = spawn(program, args, {
    ...options,
    stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit'],
  });
  const killAtExit = () => child.kill('SIGTERM');
  process.once('exit', killAtExit);
  child.once('exit', () => process.removeListener('exit', killAtExit));
  return child;
}

/** Waits for a listener; throws when the process that should be it has left. */
export async function answering(port: number, child?: ChildProcess): Promise<void> {
  const hasLeft = () => child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  await eventually(
    async () => {
      if (hasLeft()) return 'gone';
      const socket = net.connect(port, '127.0.0.1');
      try {
        await once(socket, 'connect');
        return true;
      } finally {
        socket.destroy();
      }
    },
    { deadlineMs: 30_000, what: `a listener on port ${port}` },
  );
  if (child !== undefined && hasLeft())
    throw new Error(`${child.spawnfile} left with ${child.exitCode ?? child.signalCode} before it listened`);
}

export async function stopAll(children: ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(timer);
    }),
  );
}

export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} did not start`);
  return child.pid;
}

export function local(port: number): string {
  return `127.0.0.1:${port}`;
}

/** A directory of its own, which is taken away at the latest when this process ends. */
export function temporaryDir(prefix: string): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), prefix));
  removedAtExit(dir);
  return dir;
}

/** Takes a directory away when this process ends; the function it returns says that this is done already. */
export function removedAtExit(dir: string): () => void {
  const remove = () => {
    try {
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A process that was killed just now wrote to it still. All others are to be ended too.
    }
  };
  process.once('exit', remove);
  return () => {
    process.removeListener('exit', remove);
  };
}
