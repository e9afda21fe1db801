// Any program's runs, as `node --import @sluice/preload/runs` prints and writes them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../dist/runs.js', import.meta.url));
const PROGRAM = `
const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
setTimeout(() => busy(30), 5);
setTimeout(() => { busy(150); if (process.env.EXITS) process.exit(3); }, 60);
`;

interface Line {
  program: string;
  runs: { upper_us: number[]; counts: number[]; time_us: number[]; observed_us: number };
}

function run(env: Record<string, string>, args: string[] = []) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'runs-'));
  const program = path.join(dir, 'program.js');
  const other = path.join(dir, 'other.js');
  for (const file of [program, other]) fs.writeFileSync(file, PROGRAM);
  const file = path.join(dir, 'runs.json');
  const { SLUICE_SOCKET: _socket, NODE_TEST_CONTEXT: _context, ...rest } = process.env;
  const result = spawnSync(process.execPath, args.length === 0 ? [program] : [...args, program, other], {
    encoding: 'utf8',
    env: { ...rest, NODE_OPTIONS: `--import ${entry}`, SLUICE_RUNS: file, ...env },
  });
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  fs.rmSync(dir, { recursive: true });
  return { ...result, lines };
}

/** Runs of at least so many microseconds. */
function from({ runs }: Line, us: number): number {
  const begin = runs.upper_us.indexOf(us) + 1;
  return runs.counts.slice(begin).reduce((sum, count) => sum + count, 0);
}

test('the histogram of a program is printed when it exits, and written for a comparison', () => {
  const { stderr, status, lines } = run({});
  assert.equal(status, 0);
  assert.match(
    stderr,
    /^runs of program\.js: \d+ below 1 ms, .*\d+ of 100 ms to 1 s, \d+ longer; garbage collector \d/m,
  );
  assert.match(stderr, /ms in one run, .*of it on a CPU/);
  const [line] = lines;
  assert.ok(line !== undefined && lines.length === 1);
  assert.equal(line.program, 'program.js');
  assert.ok(from(line, 100_000) >= 1, 'the run of 150 ms');
  assert.ok(from(line, 20_000) > from(line, 100_000), 'the run of 30 ms');
});

test('the run in which a program exits counts, and its exit code stays', () => {
  const { status, lines } = run({ EXITS: '1' });
  assert.equal(status, 3);
  assert.ok(lines[0] !== undefined && from(lines[0], 100_000) >= 1);
});

test('each process of a test runner adds a line', () => {
  const { lines, status } = run({}, ['--test']);
  assert.equal(status, 0);
  for (const program of ['program.js', 'other.js'])
    assert.ok(
      lines.some((line) => line.program === program),
      program,
    );
});

test('a file that cannot be written is told, and the exit code stays', () => {
  const { stderr, status } = run({ SLUICE_RUNS: '/nowhere/at/all.json' });
  assert.equal(status, 0);
  assert.match(stderr, /SLUICE_RUNS: \/nowhere\/at\/all\.json cannot be written: ENOENT/);
});

test('a worker is left to the gateway', () => {
  const { stderr, lines } = run({ SLUICE_SOCKET: '/tmp/none.sock' });
  assert.doesNotMatch(stderr, /runs of/);
  assert.equal(lines.length, 0);
});
