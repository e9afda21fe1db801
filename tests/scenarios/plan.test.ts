// `sluice plan`: the guide's commands as they are written, formats, and errors that say what to do.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import { fenced, read } from '../docs/repository.ts';
import { cleanEnvironment, sluiceCommand } from '../support/sluice.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-plan-'));
const REQUESTS = 2_000;

/** Requests with a beginning and a time, every tenth of them long. */
const requests = Array.from({ length: REQUESTS }, (_, at) => ({
  beganMs: Date.UTC(2026, 10, 28, 20, 55) + at * 20,
  tookMs: at % 10 === 0 ? 120 : 12,
  target: at % 10 === 0 ? '/reports' : `/products/${at}`,
}));
const seconds = (ms: number) => (ms / 1000).toFixed(3);
const common = (ms: number) => `28/Nov/2026:${new Date(ms).toISOString().slice(11, 19)} +0000`;

const LOGS: Record<string, (request: (typeof requests)[number]) => string> = {
  'access.log': ({ beganMs, tookMs, target }) =>
    `{"time":"${new Date(beganMs).toISOString()}","level":"info","event":"access","method":"GET","target":"${target}","host":"a","class":"","receive_ms":0.1,"queue_ms":0.2,"unserved_ms":null,"service_ms":${tookMs},"cpu_ms":${tookMs * 0.9}}`,
  'nginx.log': ({ beganMs, tookMs, target }) =>
    `192.0.2.1 - - [${common(beganMs + tookMs)}] "GET ${target} HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X11)" ${seconds(tookMs)} ${seconds(tookMs)}`,
  'named.log': ({ beganMs, tookMs, target }) =>
    `192.0.2.1 [${seconds(beganMs + tookMs)}] "GET ${target} HTTP/1.1" ${seconds(tookMs)} ${seconds(tookMs)}`,
  'apache.log': ({ beganMs, tookMs, target }) =>
    `192.0.2.1 [${common(beganMs)}] "GET ${target} HTTP/1.1" 200 ${tookMs * 1000}`,
  'untimed.log': ({ beganMs, target }) =>
    `192.0.2.1 - - [${common(beganMs)}] "GET ${target} HTTP/1.1" 200 5 "-" "Mozilla/5.0"`,
};
const logOf = (name: string) => requests.map((request) => `${LOGS[name]?.(request)}\n`).join('');

before(() => {
  for (const name of Object.keys(LOGS)) fs.writeFileSync(path.join(dir, name), logOf(name));
  fs.writeFileSync(path.join(dir, 'old.log.gz'), zlib.gzipSync(logOf('access.log')));
  const [program, words] = sluiceCommand([]);
  const quoted = [program, ...words].map((word) => `'${word}'`).join(' ');
  fs.writeFileSync(path.join(dir, 'sluice'), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
});
after(() => {
  fs.rmSync(dir, { recursive: true, force: true });
});

function run(command: string) {
  const env = { ...cleanEnvironment(), PATH: `${dir}${path.delimiter}${process.env['PATH']}` };
  return spawnSync('/bin/sh', ['-c', command], { cwd: dir, env, encoding: 'utf8', timeout: 60_000 });
}

interface Planned {
  log: { requests: number; strange: number; formats: string[] };
  classes: { class: string; requests: number }[];
  rows: { workers: number; lanes: boolean; traffic: number; load: number; all: { ms: number[] } | null }[];
  answers: { workers: number | null; workers_one_lost: number | null }[];
}

function planned(words: string): Planned {
  const { stdout, stderr, status } = run(`sluice plan ${words} --json`);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Planned;
}

void test("the guide's commands run as they are written", () => {
  const commands = fenced(read('docs/guide/planning.md'), 'sh').flatMap((block) => block.trim().split('\n'));
  assert.ok(commands.length >= 6);
  for (const command of commands) {
    // The one with a log_format of its own is about a log of that format.
    const of = command.includes('$msec') ? command.replace('access.log', 'named.log') : command;
    const { stdout, stderr, status } = run(of);
    assert.equal(status, 0, `${command}\n${stderr}`);
    assert.match(stdout, /^WORKERS +LANES +LOAD +X1 +X1\.5 +X2$/m, command);
  }
  const page = fs.readFileSync(path.join(dir, 'plan.html'), 'utf8');
  assert.match(page, /<svg [^]*<polyline /);
  assert.doesNotMatch(page, /<script|https?:|src=/);
});

for (const [name, format] of [
  ['access.log', 'Sluice'],
  ['old.log.gz', 'Sluice'],
  ['nginx.log', 'nginx'],
] as const) {
  void test(`${name} is recognised, and its plan is about its requests`, () => {
    const plan = planned(`${name} --target p95=150ms --traffic 1,2`);
    assert.deepEqual(plan.log, { ...plan.log, requests: REQUESTS, strange: 0, formats: [format] });
    assert.deepEqual(plan.classes.map(({ class: is, requests: count }) => [is, count]).slice(0, 2), [
      ['GET /reports', REQUESTS / 10],
      ['GET /products/:id', (REQUESTS * 9) / 10],
    ]);
    // 22.8 ms of service time each 20 ms.
    const loads = plan.rows.filter(({ workers, traffic }) => workers === 2 && traffic === 1);
    for (const { load } of loads) assert.ok(load > 0.5 && load < 0.6, String(load));
    const [once, twice] = plan.answers;
    assert.ok((once?.workers ?? 0) >= 2 && (twice?.workers ?? 0) > (once?.workers ?? 0));
    assert.ok((once?.workers_one_lost ?? 0) > (once?.workers ?? 0));
    const p95 = plan.rows.filter(({ lanes, traffic }) => lanes && traffic === 1).map(({ all }) => all?.ms[1]);
    assert.equal(p95[0], undefined, 'one worker is overloaded');
    assert.ok((p95.at(-1) ?? Infinity) <= (p95[1] ?? 0));
  });
}

void test('the same log and seed give the same plan', () => {
  assert.deepEqual(planned('nginx.log --seed 3'), planned('nginx.log --seed 3'));
});

for (const [name, words, message] of [
  ['a file that is not there', 'none.log', /none\.log: No such file/],
  ['a directory', '.', /\.: Is a directory/],
  ['a log without times', 'untimed.log', /does not have the time of requests.*\$request_time.*%D/],
  ['a file that is no log', 'sluice', /no request in 2 lines; .*sluice:1\. .*--format/],
  ['an empty log', '/dev/null', /no request for a worker in 0 lines/],
  ['a format without a date', "nginx.log --format '$request $request_time'", /add \$msec/],
  ['a target that is none', 'nginx.log --target fast', /such as p95=200ms/],
] as const) {
  void test(`${name} is refused with what to do`, () => {
    const { stderr, stdout, status } = run(`sluice plan ${words}`);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, message);
  });
}
