// `sluice profile FILE` draws any CPU profile, and says what is wrong with a file that is none; `--native` draws what perf sees.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { app, runSluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

function directory(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'sluice-file-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const script = `function planted() { let sum = 0; for (let at = 0; at < 3e7; at++) sum = (sum * 31 + at) | 0; return sum; }
const end = Date.now() + 200; while (Date.now() < end) planted();`;

void test('a profile of Node.js becomes a flame graph beside it, without a gateway', async (t) => {
  const dir = directory(t);
  const file = path.join(dir, 'load.cpuprofile');
  fs.writeFileSync(path.join(dir, 'load.js'), script);
  execFileSync(process.execPath, ['--cpu-prof', '--cpu-prof-name=load.cpuprofile', 'load.js'], { cwd: dir });
  const { code, stdout, stderr } = await runSluice(['profile', file]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\S*load\.cpuprofile, .* of wall-clock time in \d+ samples\n/);
  assert.match(stdout, /\nplanted +.* app +\S*load\.js:1\n/);
  assert.match(fs.readFileSync(`${file}.html`, 'utf8'), /^<!doctype html>[\s\S]*id="profile"[^<]*planted/);

  const named = path.join(dir, 'out/');
  fs.mkdirSync(named);
  const json = await runSluice(['profile', file, file, '--json', '--out', named]);
  const { html, file: files } = JSON.parse(json.stdout) as { html: string; file: string };
  assert.deepEqual([path.dirname(html), files], [path.dirname(`${named}x`), `${file}, ${file}`]);
});

void test('a file that is no profile is refused with the reason', async (t) => {
  const dir = directory(t);
  const write = (name: string, text: string) => {
    fs.writeFileSync(path.join(dir, name), text);
    return path.join(dir, name);
  };
  const huge = write('huge', '');
  fs.truncateSync(huge, 2 ** 31 + 1);
  for (const [file, said] of [
    [write('empty', ''), /it is empty/],
    [write('cut', '{"nodes":[{"id":1,'), /it is cut off/],
    [write('other', '{"a":1}'), /it contains no CPU profile/],
    [write('text', 'hello'), /expected value at line 1/],
    [huge, /2147483649 bytes exceed the limit/],
    [dir, /directory/],
    [path.join(dir, 'missing'), /No such file/],
  ] as const) {
    const { code, stderr } = await runSluice(['profile', file]);
    assert.deepEqual([code, stderr.includes(file), said.test(stderr)], [1, true, true], `${file}: ${stderr}`);
  }
  assert.deepEqual(
    fs.readdirSync(dir).filter((name) => name.endsWith('.html')),
    [],
  );
});

void test(
  '--native says what to do where perf is missing',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
    const { code, stderr } = await sluice.cli(['profile', '--native'], { PATH: directory(t) });
    assert.equal(code, 1);
    assert.match(stderr, /perf: it is not installed\. Install the package linux-perf/);
  },
);

const perf = spawnSync('perf', ['record', '-e', 'cpu-clock:u', '-o', '/dev/null', 'true']);
const hasPerf = perf.status === 0;

void test(
  '--native shows native code, and JavaScript by name where V8 writes names',
  { skip: !hasPerf },
  async (t) => {
    const config = '[app]\nnode_args = ["--perf-basic-prof"]\n';
    const sluice = await running(t, { entry: ownApp('crashes.js'), workers: 1, config });
    const load = setInterval(() => void ask(sluice, '/').catch(() => undefined), 2);
    t.after(() => {
      clearInterval(load);
      for (const worker of pids) fs.rmSync(`/tmp/perf-${worker}.map`, { force: true });
    });
    const pids = (await sluice.status()).workers.map(({ pid }) => pid);
    const { code, stdout, stderr } = await sluice.cli(['profile', '--native', '--seconds', '1', '--json']);
    assert.equal(code, 0, stderr);
    const { places, samples, html, subject } = JSON.parse(stdout) as {
      places: { package: string; file: string }[];
      samples: number;
      html: string;
      subject: string;
    };
    assert.ok(samples > 0);
    assert.match(subject, /^worker 1, all threads/);
    assert.ok(
      places.some((place) => place.package === 'native' && place.file.startsWith('native:/')),
      stdout,
    );
    assert.match(fs.readFileSync(html, 'utf8'), /id="profile"/);
  },
);
