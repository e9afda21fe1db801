// What tests of written files share: an app in a folder of its own, `sluice init` in it, and the checks of systemd.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { runSluice } from '../support/sluice.ts';
import { build, processOf } from './dockerfile.ts';

export function tempDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-dep-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** A folder with these files. */
export function appWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const dir = tempDir(t);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  return dir;
}

/** Runs `sluice init` in `dir`, and expects it to do so; what it printed. */
export async function init(dir: string, ...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSluice(['init', ...flags], { cwd: dir });
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Whether systemd's own checks run here; skips with the reason otherwise. */
export function hasSystemd(t: TestContext): boolean {
  const { error, stdout } = spawnSync('systemd-analyze', ['--help'], { encoding: 'utf8' });
  const has = error === undefined && stdout.includes('--offline');
  if (!has) t.skip('systemd-analyze is not here, or older than 250');
  return has;
}

/** What is wrong with a unit by `systemd-analyze verify`, on a machine that has the program it names. */
export function verified(t: TestContext, unit: string): string {
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', onThisMachine(t, unit)],
    {
      encoding: 'utf8',
    },
  );
  const said = `${stdout}${stderr}`.trim();
  return status === 0 ? said : `${said} (left with ${status})`;
}

/** How exposed the service is, from 0 to 10, by `systemd-analyze security`. */
export function exposure(t: TestContext, unit: string): number {
  const args = ['security', '--offline=true', '--no-pager', onThisMachine(t, unit)];
  const { stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  const [, level] = /Overall exposure level for .+: ([\d.]+)/.exec(stdout) ?? [];
  assert.ok(level !== undefined, `${stdout}${stderr}`);
  return Number(level);
}

function onThisMachine(t: TestContext, unit: string): string {
  const file = path.join(tempDir(t), path.basename(unit));
  const text = fs.readFileSync(unit, 'utf8');
  fs.writeFileSync(file, text.replaceAll(/^(Exec\w+=)\S+/gm, `$1${process.execPath}`));
  return file;
}

/** Builds the Dockerfile of `context`, runs what it says, and returns the answer to `/`; it has to leave with 0 after SIGTERM. */
export async function answerOfImage(t: TestContext, context: string): Promise<string> {
  const scratch = tempDir(t);
  const image = build(context, scratch);
  assert.equal(image.user, 'node');
  const { program, args, cwd, env } = processOf(image);
  const port = await freePort();
  const child = spawn(program, args, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: scratch,
      SLUICE_BINARY: process.env['SLUICE_BINARY'],
      SLUICE_RUN_DIR: path.join(scratch, 'run'),
      SLUICE_SERVER_PORT: String(port),
      SLUICE_ADMIN_ADDRESS: 'off',
      SLUICE_WORKERS_COUNT: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  t.after(() => child.kill('SIGKILL'));
  const answered = async () => {
    if (child.exitCode !== null) return { status: 0, text: `left with ${child.exitCode}: ${output}` };
    const response = await fetch(`http://127.0.0.1:${port}/`);
    return response.status === 200 && { status: 200, text: await response.text() };
  };
  const { status, text } = await eventually(answered, { deadlineMs: 60_000, what: `an answer: ${output}` });
  assert.equal(status, 200, text);
  child.kill('SIGTERM');
  await eventually(() => child.exitCode !== null, { deadlineMs: 30_000, what: 'the end of the container' });
  assert.equal(child.exitCode, 0, output);
  return text;
}
