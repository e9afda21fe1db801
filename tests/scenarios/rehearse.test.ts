// `sluice rehearse`: what a small app of known faults is reported to have lost, and that nothing of a rehearsal stays behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fenced, read } from '../docs/repository.ts';
import { eventually } from '../support/eventually.ts';
import { cleanEnvironment, runSluice, sluiceCommand } from '../support/sluice.ts';
import { ownApp } from './scenario.ts';

/** Times of workers in these tests: the loop's is as short as the gateway allows to tell a loop from slow code. */
const CONFIG = '[workers]\nstuck_after_ms = 1500\n';

interface Cell {
  load: string;
  fault: string;
  requests: number;
  lost: number;
  app_errors: number;
  client_errors: number;
  failures: [string, number][];
  ms: number[] | null;
  longest_ms: number;
  events: string[];
  problem: string | null;
}

interface Report {
  workers: number;
  capacity: { per_second: number };
  paths: { path: string; share: number; answer: string }[];
  notes: string[];
  cells: Cell[];
}

/** A directory with the app as `server.js` and a config. What the rehearsal keeps for a while is below it. */
function folder(t: TestContext, config = CONFIG): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-reh-'));
  fs.copyFileSync(ownApp('rehearsed.js'), path.join(dir, 'server.js'));
  fs.writeFileSync(path.join(dir, 'package.json'), '{ "type": "commonjs" }');
  fs.writeFileSync(path.join(dir, 'sluice.toml'), config);
  fs.mkdirSync(path.join(dir, 'tmp'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const environmentOf = (dir: string, env: Record<string, string> = {}) => ({
  TMPDIR: path.join(dir, 'tmp'),
  ...env,
});

async function rehearsed(dir: string, words: string[], env: Record<string, string> = {}) {
  const finished = await runSluice(['rehearse', ...words], { cwd: dir, env: environmentOf(dir, env) });
  assert.deepEqual(leftOf(dir), [], 'directories or processes of the rehearsal');
  return finished;
}

/** Files and processes that a rehearsal has left. */
function leftOf(dir: string): string[] {
  const tmp = path.join(dir, 'tmp');
  const left = fs.readdirSync(tmp);
  if (!fs.existsSync('/proc/self/environ')) return left;
  const uses = (pid: string) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(dir);
    } catch {
      return false;
    }
  };
  return [...left, ...fs.readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && uses(pid))];
}

async function report(
  dir: string,
  words: string[],
  code = 0,
  env: Record<string, string> = {},
): Promise<Report> {
  const finished = await rehearsed(dir, ['server.js', '--json', ...words], env);
  assert.equal(finished.code, code, `${finished.stderr}\n${finished.stdout}`);
  return JSON.parse(finished.stdout) as Report;
}

const cellOf = ({ cells }: Report, fault: string): Cell =>
  cells.find((cell) => cell.fault === fault) ?? assert.fail(`${fault} is missing`);

void test('neither load alone nor a reload loses a request, and kills are made and told', async (t) => {
  const dir = folder(t);
  const words = ['--workers', '2', '--loads', 'low,3', '--faults', 'none,reload,kills', '--seconds', '2'];
  const made = await report(dir, [...words, '--paths', '/,/b=3', '--html', 'out.html']);
  assert.equal(made.workers, 2);
  // Requests compute for 3 ms: one worker cannot answer more than 333.
  assert.ok(
    made.capacity.per_second > 10 && made.capacity.per_second < 670,
    String(made.capacity.per_second),
  );
  assert.deepEqual(
    made.paths.map(({ path: is, share, answer }) => [is, share, answer]),
    [
      ['GET /b', 0.75, '200'],
      ['GET /', 0.25, '200'],
    ],
  );
  assert.deepEqual(
    made.cells.map(({ load, fault }) => [load, fault]),
    ['low', '3 clients'].flatMap((load) => ['none', 'reload', 'kills'].map((fault) => [load, fault])),
  );
  for (const cell of made.cells) {
    assert.ok(cell.requests > 5, JSON.stringify(cell));
    assert.equal(cell.problem, null);
    const [p50 = 0, p95 = 0, p99 = 0] = cell.ms ?? [];
    assert.ok(p50 >= 2.9 && p95 >= p50 && p99 >= p95 && cell.longest_ms >= p50, JSON.stringify(cell));
    if (cell.fault !== 'kills') assert.deepEqual([cell.lost, cell.failures], [0, []], JSON.stringify(cell));
  }
  for (const cell of made.cells.filter(({ fault }) => fault === 'reload'))
    assert.match(cell.events.join(), /^reloaded in /);
  for (const cell of made.cells.filter(({ fault }) => fault === 'kills'))
    assert.match(cell.events.join(), /^[1-9]\d* workers? killed$/);
  const page = fs.readFileSync(path.join(dir, 'out.html'), 'utf8');
  assert.match(page, /A rolling reload cost no request of /);
  assert.doesNotMatch(page, /<script|https?:|src=/);
});

/** Options for two clients who ask one worker for these paths for a second. */
const quick = (paths: string): string[] =>
  `--workers 1 --loads 2 --faults none --seconds 1 --paths ${paths}`.split(' ');

void test('an endless loop lasts until the gateway has ended the worker', async (t) => {
  const words = ['--workers', '2', '--loads', 'low', '--faults', 'loop', '--seconds', '1'];
  // The user's own options of Node.js hold beside the rehearsal's.
  const dir = folder(t, `${CONFIG}[app]\nenv = { NODE_OPTIONS = "--no-warnings" }\n`);
  const cell = cellOf(await report(dir, words), 'loop');
  assert.match(cell.events.join(), /^worker \d+ looped and exited after /);
  assert.equal(cell.problem, null);
});

void test('an app that fails one request of ten is reported as such, and has lost none', async (t) => {
  const dir = folder(t);
  const words = quick('/?fail=10');
  const cell = cellOf(await report(dir, words), 'none');
  assert.equal(cell.lost, 0);
  assert.ok(Math.abs(cell.app_errors - cell.requests / 10) <= 1, JSON.stringify(cell));
  assert.deepEqual(cell.failures, [['500 by the app', cell.app_errors]]);
  const { stdout } = await rehearsed(dir, ['server.js', ...words]);
  assert.match(
    stdout,
    /^The app itself answered (9|10)\.\d % of the requests with a status of 500 or above$/m,
  );
});

void test('answers that are cut off are lost, and the exit code says so', async (t) => {
  const words = quick('/=5,/cut');
  const cell = cellOf(await report(folder(t), words, 1), 'none');
  assert.ok(cell.lost > 0 && cell.lost < cell.requests / 2, JSON.stringify(cell));
});

void test('an app that does not start is an error with what it wrote', async (t) => {
  const finished = await rehearsed(folder(t), ['server.js', '--seconds', '1'], { BROKEN: '1' });
  assert.deepEqual([finished.code, finished.stdout], [4, '']);
  assert.match(finished.stderr, /the app did not start.*[^]*no database at all/);
});

void test('paths of a log are asked for by their shares, and what cannot be sent is told', async (t) => {
  const dir = folder(t);
  const line = (request: string) =>
    `192.0.2.1 - - [28/Nov/2026:20:55:04 +0000] "${request}" 200 5 "-" "Mozilla/5.0"\n`;
  const requests = [
    ...Array.from({ length: 6 }, () => 'GET /often HTTP/1.1'),
    'HEAD /often HTTP/1.1',
    'GET /a%20b?c=d&e=%2F HTTP/1.1',
    'POST /pay HTTP/1.1',
    'GET /ü HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'GET http://elsewhere/ HTTP/1.1',
    'GET /a?token=*** HTTP/1.1',
    String.raw`\x16\x03\x01`,
  ];
  fs.writeFileSync(path.join(dir, 'access.log'), requests.map(line).join(''));
  const seen = path.join(dir, 'seen');
  const words = [
    '--workers',
    '1',
    '--loads',
    '2',
    '--faults',
    'none',
    '--seconds',
    '1',
    '--log',
    'access.log',
  ];
  const made = await report(dir, words, 0, { SEEN_FILE: seen });
  assert.deepEqual(Object.fromEntries(made.paths.map(({ path: is, share }) => [is, share])), {
    'GET /a%20b?c=d&e=%2F': 0.125,
    'GET /often': 0.75,
    'HEAD /often': 0.125,
  });
  assert.deepEqual(
    new Set(fs.readFileSync(seen, 'utf8').trim().split('\n')),
    new Set(made.paths.map(({ path: is }) => is)),
  );
  const told = made.notes.join('\n');
  assert.match(told, /^paths of 8 requests in 14 lines$/m);
  assert.match(told, /^skipped: 3 requests that are neither GET nor HEAD$/m);
  assert.match(told, /^skipped: 2 requests with a path that is too long, not ASCII or missing$/m);
  assert.match(told, /^skipped: 1 request with a query that the log masks$/m);
});

void test('settings that keep the load out or reach others are set aside and named', async (t) => {
  const config = `${CONFIG}[rate]\nlimits = { "/" = "1/min" }\n[access]\ndeny = ["127.0.0.1"]\n[cache]\nenabled = true\n`;
  const words = ['--workers', '1', '--loads', '1', '--faults', 'none', '--seconds', '1'];
  const made = await report(folder(t, config), words);
  assert.equal(cellOf(made, 'none').client_errors, 0);
  assert.match(
    made.notes.join('\n'),
    /^ignored during the rehearsal: rate\.limits, access\.deny, cache\.enabled$/m,
  );
});

void test('event streams of a log end the rehearsal no later, and are told', async (t) => {
  const words = ['--workers', '1', '--loads', '2', '--faults', 'none', '--seconds', '1'];
  const made = await report(folder(t), [...words, '--paths', '/=9,/events']);
  const cell = cellOf(made, 'none');
  assert.deepEqual([cell.lost, cell.failures], [0, []], JSON.stringify(cell));
  assert.match(made.notes.join('\n'), /^[1-9]\d* event streams?: closed after the headers of the answer, /m);
});

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  const stays = signal === 'SIGKILL';
  const skip = stays && process.platform !== 'linux' ? 'the kernel ends children on Linux alone' : false;
  void test(`${signal} leaves no process`, { skip }, async (t) => {
    const dir = folder(t);
    const [program, words] = sluiceCommand([
      'rehearse',
      path.join(dir, 'server.js'),
      '--seconds',
      '60',
      '--workers',
      '1',
    ]);
    const child = spawn(program, words, {
      cwd: dir,
      env: cleanEnvironment(environmentOf(dir)),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const closed = once(child, 'close');
    await eventually(() => said.includes('measures the capacity'), {
      what: 'the first load',
      deadlineMs: 30_000,
    });
    child.kill(signal);
    await closed;
    await eventually(() => leftOf(dir).filter((left) => !stays || /^\d+$/.test(left)).length === 0, {
      what: 'the end of everything',
      deadlineMs: 20_000,
    });
    if (stays) return;
    assert.equal(child.exitCode, 1);
    assert.match(said, /interrupted; everything that it started is stopped/);
  });
}

for (const [name, words, message] of [
  ['a load that is none', ['--loads', 'fast'], /low, high, queueing or a number of clients/],
  ['a script that is not there', ['none.js'], /none\.js/],
  ['a page in no directory', ['server.js', '--html', 'none/a.html'], /--html none\/a\.html: No such file/],
  ['a log that is not there', ['server.js', '--log', 'none.log'], /none\.log: No such file/],
  ['a log without paths', ['server.js', '--log', 'server.js'], /no GET or HEAD request .*--paths/],
  [
    'a loop alone for a command',
    ['--faults', 'loop', '--', 'node', 'server.js'],
    /a command starts the app; name its script/,
  ],
] as const) {
  void test(`${name} is refused with what to do`, async (t) => {
    const { code, stdout, stderr } = await rehearsed(folder(t), [...words]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  });
}

void test("the guide's commands run as they are written, on shorter loads", async (t) => {
  const dir = folder(t);
  fs.writeFileSync(
    path.join(dir, 'access.log'),
    '192.0.2.1 - - [28/Nov/2026:20:55:04 +0000] "GET /a HTTP/1.1" 200 5\n',
  );
  const commands = fenced(read('docs/guide/rehearsing.md'), 'sh').flatMap((block) =>
    block.trim().split('\n'),
  );
  assert.ok(commands.length >= 5);
  for (const command of commands) {
    const [program = '', verb = '', ...words] = command.split(' ');
    assert.deepEqual([program, verb], ['sluice', 'rehearse'], command);
    const shorter = words.includes('--seconds')
      ? words.with(words.indexOf('--seconds') + 1, '1')
      : [...words, '--seconds', '1'];
    const faults = words.includes('--faults') ? [] : ['--faults', 'none,loop'];
    const loads = words.includes('--loads') ? [] : ['--loads', 'low'];
    const { code, stdout, stderr } = await rehearsed(dir, [...shorter, ...faults, ...loads]);
    assert.equal(code, 0, `${command}\n${stderr}\n${stdout}`);
    assert.match(
      stdout,
      words.includes('--json') ? /^\{"app":"node server\.js"/ : /^Without a fault, no request of /m,
      command,
    );
  }
  assert.ok(fs.existsSync(path.join(dir, 'rehearsal.html')));
});
