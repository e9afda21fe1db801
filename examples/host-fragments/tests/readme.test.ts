// The README's commands, as they stand but for the ports, give what the README says.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../tests/support/eventually.ts';
import { freePort } from '../../../tests/support/ports.ts';
import { noPython } from './host.ts';

const home = fileURLToPath(new URL('../', import.meta.url));
const repository = path.join(home, '../..');
const COMMAND_TIMEOUT_MS = 60_000;
const skip =
  noPython ||
  (fs.existsSync(path.join(home, 'dist/server.js')) ? false : 'the example is not built') ||
  (spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed');

interface Step {
  command: string;
  output: string[];
}

void test('what the README says to type gives what it says', { skip }, async (t) => {
  const readme = fs.readFileSync(path.join(home, 'README.md'), 'utf8');
  const [start = ''] = blocks(readme, 'sh');
  const steps = blocks(readme, 'console').flatMap(stepsOf);
  assert.ok(steps.length >= 6, 'the README has commands');

  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-'));
  const [port, hostPort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    PORT: String(port),
    HOST_PORT: String(hostPort),
    SLUICE_RUN_DIR: path.join(dir, 'run'),
    SLUICE_ADMIN_ADDRESS: 'off',
  };
  const started = spawn('bash', ['-c', `exec ${start}`], { cwd: repository, env, stdio: 'ignore' });
  t.after(async () => {
    const gone = once(started, 'exit');
    started.kill('SIGTERM');
    await gone;
    fs.rmSync(dir, { recursive: true, force: true });
  });
  await eventually(
    async () => {
      const pages = await Promise.all([
        fetch(`http://127.0.0.1:${port}/.sluice/ready`),
        fetch(`http://127.0.0.1:${hostPort}/`),
      ]);
      return pages.every(({ status }) => status === 200);
    },
    { deadlineMs: COMMAND_TIMEOUT_MS, what: 'Sluice and the shop' },
  );
  for (const { command, output } of steps) {
    const own = command.replaceAll(':8000', `:${hostPort}`).replaceAll(':3000', `:${port}`);
    const ran = spawnSync('bash', ['-c', own], {
      cwd: repository,
      env,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
    });
    if (output.length === 0) assert.equal(ran.status, 0, `${command}: ${ran.stderr}`);
    else assert.deepEqual(ran.stdout.trimEnd().split('\n'), output, command);
  }
});

function blocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) => text.trim());
}

function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .filter((part) => part !== '')
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { command, output };
    });
}
