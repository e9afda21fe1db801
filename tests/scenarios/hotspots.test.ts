// Planted faults are named by file and line, from a file and from a live worker, in the source and not in what was compiled.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { transformSync } from 'esbuild';
import { runSluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

interface Line {
  function: string;
  file: string;
  line: number;
  worst_ms: number;
  runs_over: number;
  self_ms: number;
  gc_ms: number;
  hit: { line: number; self_ms: number }[];
}

interface Report {
  lines: Line[];
  over_budget: { function: string; budget: string }[];
}

const FAULTS = ['matchSlowly', 'readWhole', 'parseWhole', 'litter'];
const source = fs.readFileSync(ownApp('burns.ts'), 'utf8').split('\n');

/** From 1. */
function lineOf(text: string): number {
  const at = source.findIndex((line) => line.includes(text));
  assert.ok(at >= 0, text);
  return at + 1;
}

/** The app as a bundler leaves it, with its map beside it, and a file of 20 MB for it to read. */
function compiled(t: TestContext): { directory: string; script: string; file: string } {
  const directory = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'sluice-burns-'));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  fs.mkdirSync(path.join(directory, 'dist'));
  fs.mkdirSync(path.join(directory, 'src'));
  fs.writeFileSync(path.join(directory, 'src/burns.ts'), source.join('\n'));
  const { code, map } = transformSync(source.join('\n'), {
    loader: 'ts',
    format: 'cjs',
    sourcemap: true,
    sourcefile: '../src/burns.ts',
  });
  const script = path.join(directory, 'dist/burns.cjs');
  const comment = 'sourceMappingURL';
  fs.writeFileSync(script, `${code}\n//# ${comment}=burns.cjs.map\n`);
  fs.writeFileSync(`${script}.map`, map);
  const file = path.join(directory, 'items.json');
  const item = JSON.stringify({ name: 'lamp', tags: ['a', 'b'], price: 12.5, text: 'x'.repeat(40) });
  fs.writeFileSync(file, `[${Array.from({ length: 230_000 }, () => item).join(',')}]`);
  return { directory, script, file };
}

function assertNamed({ lines }: Report): void {
  const found = (name: string): Line => {
    const line = lines.find((each) => each.function === name);
    assert.ok(line !== undefined, `no ${name} in ${JSON.stringify(lines.slice(0, 9))}`);
    return line;
  };
  for (const name of FAULTS) {
    const { file, line, worst_ms } = found(name);
    assert.ok(file.endsWith('src/burns.ts'), file);
    assert.equal(line, lineOf(`function ${name}`));
    assert.ok(worst_ms > 0, `${name}: ${worst_ms}`);
  }
  for (const name of ['matchSlowly', 'parseWhole']) assert.ok(found(name).runs_over > 0, name);
  assert.equal(found('parseWhole').hit[0]?.line, lineOf('JSON.parse(text)'));
  assert.ok(found('litter').gc_ms > 0);
}

void test('a profile of Node.js names planted faults in the source', async (t) => {
  const { directory, script, file } = compiled(t);
  const env: NodeJS.ProcessEnv = { ...process.env, BURNS_FILE: file };
  delete env['PORT'];
  for (const name of ['a.cpuprofile', 'b.cpuprofile']) {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${directory}`, `--cpu-prof-name=${name}`];
    execFileSync(process.execPath, [...flags, script], { env });
  }
  const [a, b] = ['a.cpuprofile', 'b.cpuprofile'].map((name) => path.join(directory, name));
  assert.ok(a !== undefined && b !== undefined);
  const one = await runSluice(['hotspots', a, '--json']);
  assert.equal(one.code, 0, one.stderr);
  assertNamed(JSON.parse(one.stdout) as Report);

  const held = await runSluice(['hotspots', a, b, '--only', 'src/', '--budget', 'worst=1ms', '--json']);
  assert.equal(held.code, 1);
  const over = (JSON.parse(held.stdout) as Report).over_budget;
  assert.ok(over.some((line) => line.function === 'matchSlowly' && line.budget === 'worst=1ms'));
  assert.match(held.stderr, /over budget: \d+\n/);
  const none = await runSluice(['hotspots', a, '--only', 'scr/', '--budget', 'worst=1ms']);
  assert.deepEqual([none.code, none.stderr.includes('no sample is in a file with `scr/`')], [1, true]);
  const free = await runSluice(['hotspots', a, '--budget', 'worst=3600s']);
  assert.equal(free.code, 0, free.stderr);
  assert.match(free.stdout, /^WORST RUN +LONG +RUNS/m);

  const same = await runSluice(['hotspots', '--compare', a, a, '--json', '--budget', 'worst=0ms']);
  assert.equal(same.code, 0, same.stderr);
  const { changes } = JSON.parse(same.stdout) as { changes: { effect_ms_per_s: number }[] };
  assert.ok(changes.length > 3 && changes.every((change) => change.effect_ms_per_s === 0));

  const missing = await runSluice(['hotspots', path.join(directory, 'none.cpuprofile')]);
  assert.deepEqual([missing.code, missing.stderr.includes('none.cpuprofile')], [1, true]);
  const other = await runSluice(['hotspots', script]);
  assert.equal(other.code, 1);
});

void test('a live worker names planted faults while it serves', async (t) => {
  const { script, file } = compiled(t);
  const sluice = await running(t, { entry: script, workers: 1, env: { BURNS_FILE: file } });
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      for (const at of ['/regex', '/read', '/parse', '/litter']) await ask(sluice, at);
    }
  })();
  const { code, stdout, stderr } = await sluice.cli(['hotspots', '--live', '--seconds', '5', '--json']);
  isOver = true;
  await load;
  assert.equal(code, 0, stderr);
  assertNamed(JSON.parse(stdout) as Report);
});
