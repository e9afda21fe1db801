// Commands that follow a gateway end with their terminal, whether or not a signal tells them of its end, and with the gateway.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, cleanEnvironment, shimFile, sluiceCommand } from '../support/sluice.ts';
import { missing, TerminalWindow } from '../support/terminal.ts';
import { isAlive, running } from './scenario.ts';

const program = process.env['SLUICE_BINARY'];
const skip = program === undefined ? 'needs SLUICE_BINARY' : missing();

/** How the shell starts the command, so that the terminal's end reaches it in different ways. */
const STARTS: readonly (readonly [string, (command: string) => string])[] = [
  ['which leads the session', (command) => `exec ${command}`],
  ['in a session that no terminal controls', (command) => `setsid -w ${command}`],
  ['that has SIGHUP ignored', (command) => `trap '' HUP; ${command}`],
];

for (const [how, start] of STARTS) {
  void test(`a command ${how} ends with its terminal`, { skip }, async (t) => {
    const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
    for (const [name, command, shown] of [
      ['top', `${program} top`, /ID STATE/],
      ['logs', `${program} logs -f`, /workers: 1, first ready/],
      ['shim', `${process.execPath} ${shimFile} top`, /ID STATE/],
      ['dev', dev(sluice.dir), /ready|listening/],
    ] as const) {
      const { SLUICE_PRELOAD = '' } = cleanEnvironment();
      const env = { SLUICE_RUN_DIR: sluice.runDir, SLUICE_PRELOAD };
      const window = await TerminalWindow.open(80, 24, env);
      t.after(() => window.close());
      const pidFile = path.join(sluice.dir, name);
      window.type(`${start(`sh -c 'echo $$ > ${pidFile}; exec ${command}'`)}\n`);
      await window.sees(shown);
      const pid = Number(fs.readFileSync(pidFile, 'utf8'));
      const all = [pid, ...children(pid)];
      t.after(() => end(all));
      window.close();
      await eventually(() => !all.some(isAlive), { what: `the end of ${name}`, deadlineMs: 30_000 });
    }
  });
}

void test('top whose launcher was killed leaves the terminal to the shell', { skip }, async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  const window = await TerminalWindow.open(80, 24, { SLUICE_RUN_DIR: sluice.runDir });
  t.after(() => window.close());
  const pidFile = path.join(sluice.dir, 'launcher');
  window.type(`sh -c 'echo $$ > ${pidFile}; exec ${process.execPath} ${shimFile} top'\n`);
  await window.sees(/ID STATE/);
  const pid = Number(fs.readFileSync(pidFile, 'utf8'));
  const [top = 0] = children(pid);
  t.after(() => end([top]));
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(top), { what: 'the end of top', deadlineMs: 30_000 });
  window.type('echo "here" again\n');
  await window.sees(/here again/);
});

void test('top ends when the gateway was killed and none comes after it', { skip }, async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  const window = await TerminalWindow.open(80, 24);
  t.after(() => window.close());
  window.type(`${program} top --run-dir ${sluice.runDir}; echo "ended with $?"\n`);
  await window.sees(/ID STATE/);
  await sluice.kill9();
  await window.sees(/NO ANSWER/);
  await window.sees(/no gateway runs in [^]*ended with 3/);
  assert.equal(window.isCooked, true);
});

void test('logs -f ends when its reader has gone, though no line comes', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  const [file, args] = sluiceCommand(['logs', '-f', '--run-dir', sluice.runDir]);
  const child = spawn(file, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(30_000) })) as [number | null];
  assert.equal(code, 0);
});

/** A gateway of its own, for an app in development. */
function dev(dir: string): string {
  return `${program} dev ${app('trivial.js')} --port 0 --run-dir ${dir}/dev-run`;
}

/** Processes that this one has started. */
function children(pid: number): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return listed.split(' ').filter(Boolean).map(Number);
}

function end(pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
}
