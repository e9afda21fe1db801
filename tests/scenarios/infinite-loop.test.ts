// A worker whose event loop never turns again: it is found, named and killed; nobody else pays for it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { allReady, ask, assertRefused, pidOf, running, sent, statusWhen } from './scenario.ts';
import {
  KILL_MS,
  known,
  lineOf,
  logged,
  metric,
  quick,
  SLACK_MS,
  STUCK_AFTER_MS,
  stuckApp,
} from './stuck.ts';

void test('I4: an infinite loop is reported with function, file, line and request, and its worker is killed', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 2, env: quick, cwd: path.dirname(stuckApp) });
  const client = await sent(sluice, '/loop?visit=7');
  await statusWhen(sluice, ({ requests }) => requests.in_service === 1, 'a request in service');
  const began = performance.now();
  // The other worker serves meanwhile, and no second request is trapped in the first.
  let served = 0;
  const answered = client.response({ deadlineMs: 20_000 });
  const over = answered.then(() => true);
  while (!(await Promise.race([over, Promise.resolve(false)]))) {
    assert.equal((await ask(sluice, '/')).status, 200);
    served += 1;
  }
  assertRefused(await answered, 504, 'SLU-WORKER-STUCK');
  const took = performance.now() - began;
  assert.ok(took < STUCK_AFTER_MS + KILL_MS + SLACK_MS, `it took ${took} ms`);
  assert.ok(served > 10, `${served} others were served`);

  await logged(sluice, 'worker_stuck');
  const line = await known(sluice, '/loop?visit=7', 'profile');
  assert.deepEqual(
    [line['function'], line['file'], line['line']],
    ['spin', 'stuck.js', lineOf('for (;;) x')],
  );
  // Node may have interrupted the loop for something of its own; nothing else may stand in front.
  const innermost = String(line['stack']).replace(/^(?:\S+ \(node:[^)]+\) < )+/, '');
  assert.match(innermost, /^spin \(stuck\.js:\d+:\d+\) < \/loop \(stuck\.js:\d+:\d+\) < /);
  assert.match(String(line['hottest']), /spin \(stuck\.js:/);
  assert.deepEqual([line['method'], line['target']], ['GET', '/loop?visit=7']);
  const record = await eventually(() =>
    sluice.logs.find((one) => one['event'] === 'access' && one['request_id'] === line['request_id']),
  );
  assert.deepEqual([record['target'], record['outcome']], ['/loop?visit=7', 'timed_out']);
  assert.equal(record['worker'], line['worker']);

  const file = String(line['profile']);
  assert.equal(path.dirname(file), path.join(sluice.runDir, 'profiles'));
  const profile = await eventually(
    () => JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>,
  );
  assert.ok(Array.isArray(profile['nodes']) && Array.isArray(profile['samples']));
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);

  const exit = await eventually(() =>
    sluice.logs.find((one) => one['event'] === 'worker_exited' && one['worker'] === line['worker']),
  );
  assert.deepEqual([exit['reason'], exit['expected']], ['stuck', false]);
  assert.deepEqual([exit['request_id'], exit['class']], [line['request_id'], 'GET /loop']);
  // The time that the loop took is its class's, though no worker has reported it.
  assert.ok(Number(record['cpu_ms']) > 300, `${String(record['cpu_ms'])} ms`);
  const { stdout } = await sluice.cli(['classes', '--json']);
  const { classes } = JSON.parse(stdout) as { classes: { class: string; cpu_share: number }[] };
  assert.equal(classes[0]?.class, 'GET /loop', stdout);
  assert.ok((await metric(sluice, 'sluice_class_cpu_seconds_total{class="GET /loop"}')) > 0.3);
  await allReady(sluice, 2);
  const stuck = sluice.logs.filter(({ event }) => event === 'worker_stuck').length;
  assert.equal(await metric(sluice, 'sluice_worker_exits_total{reason="stuck",expected="false"}'), stuck);
  // What the inspector says while it is used is not the app's.
  assert.deepEqual(appLines(sluice), []);
});

void test('a place is that of the source where the code has a map', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-map-'));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  fs.mkdirSync(path.join(dir, 'dist'));
  const source = fs.readFileSync(stuckApp, 'utf8');
  // Each line of the code that runs is a hundred lines further down in the source.
  const mappings = `AAoGA${';AACA'.repeat(source.split('\n').length)}`;
  const map = JSON.stringify({ version: 3, sources: ['../src/app.ts'], names: [], mappings });
  fs.writeFileSync(path.join(dir, 'dist/app.cjs'), `${source}//# sourceMappingURL=app.cjs.map\n`);
  fs.writeFileSync(path.join(dir, 'dist/app.cjs.map'), map);
  const sluice = await running(t, {
    entry: path.join(dir, 'dist/app.cjs'),
    workers: 1,
    env: quick,
    cwd: dir,
  });
  const line = await known(sluice, '/loop', 'function');
  const place = [line['function'], line['file'], line['line']];
  assert.deepEqual(place, ['spin', 'src/app.ts', lineOf('for (;;) x') + 100]);
});

void test('a loop in a timer is found although no request is in service', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: quick });
  assert.equal((await ask(sluice, '/loop-later')).status, 200);
  const line = await logged(sluice, 'worker_stuck');
  assert.deepEqual([line['request_id'], line['method'], line['target']], [null, null, null]);
  await eventually(async () => (await ask(sluice, '/')).status === 200, { what: 'the next worker' });
});

void test('a command is looked into where it listens, not where it was started', async (t) => {
  const command = ['sh', '-c', `node ${stuckApp}; exit $?`];
  const sluice = await running(t, { command, workers: 1, env: quick });
  const line = await known(sluice, '/loop', 'function');
  assert.equal(line['function'], 'spin');
  assert.equal((await logged(sluice, 'worker_exited'))['reason'], 'stuck');
});

void test('several workers that are stuck at once are all named', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 2, env: quick });
  await allReady(sluice, 2);
  const answers = await Promise.all([ask(sluice, '/loop'), ask(sluice, '/regex')]);
  for (const answer of answers) assertRefused(answer, 504, 'SLU-WORKER-STUCK');
  await eventually(() => sluice.logs.filter(({ event }) => event === 'worker_stuck').length === 2);
  assert.equal((await known(sluice, '/loop', 'function'))['function'], 'spin');
  assert.equal((await known(sluice, '/regex', 'function'))['function'], 'check');
});

void test('a worker that only waits for something slow is not stuck', async (t) => {
  const env = { ...quick, ...bounds({ overdue_after_ms: 0, blocked_after_ms: 1500 }) };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  assert.equal((await ask(sluice, '/slow-io?ms=3000')).status, 200);
  const { workers } = await sluice.status();
  assert.equal(workers[0]?.restarts_total, 0);
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck' || event === 'worker_blocked'));
});

void test('0 switches it off', async (t) => {
  const env = {
    SLUICE_WORKERS_STUCK_AFTER_MS: '0',
    ...bounds({ blocked_after_ms: 1500 }),
    SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '4000',
  };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  assertRefused(await ask(sluice, '/loop'), 504, 'SLU-WORKER-TIMEOUT');
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck' || event === 'worker_blocked'));
});

void test('no inspector listens in normal operation', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 2, env: quick });
  assert.equal((await ask(sluice, '/debug-port')).body.toString(), '0\n');
  const pids = (await sluice.status()).workers.map(pidOf);
  for (const pid of pids) assert.deepEqual(listeningTcp(pid), [], `TCP sockets of ${pid}`);
});

void test('lines about an inspector that the user has opened stay in the log', async (t) => {
  const config = '[app]\nnode_args = ["--inspect=0"]\n';
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, config });
  const said = 'Debugger listening on ws://127.0.0.1:';
  await eventually(() => appLines(sluice).some((line) => line.startsWith(said)), { what: said });
  const pid = pidOf((await sluice.status()).workers[0]);
  if (process.platform === 'linux') assert.equal(listeningTcp(pid).length, 1);
});

/** What workers wrote. */
function appLines(sluice: Sluice): string[] {
  return sluice.logs.flatMap(({ line }) => (typeof line === 'string' ? [line] : []));
}

/** Inodes of the TCP sockets on which the process listens. */
function listeningTcp(pid: number): string[] {
  if (!fs.existsSync('/proc/self/net/tcp')) return [];
  const listening = new Set(
    ['tcp', 'tcp6']
      .map((name) => path.join('/proc', String(pid), 'net', name))
      .filter((file) => fs.existsSync(file))
      .flatMap((file) => fs.readFileSync(file, 'utf8').split('\n').slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => `socket:[${fields[9]}]`),
  );
  assert.ok(listening.size > 0, 'the gateway itself listens');
  const descriptors = path.join('/proc', String(pid), 'fd');
  const targets = fs.readdirSync(descriptors).map((name) => {
    try {
      return fs.readlinkSync(path.join(descriptors, name));
    } catch {
      return '';
    }
  });
  return targets.filter((target) => listening.has(target));
}

void test('an alarm, the log and the status agree on a run that the gateway has ended, and on its place', async (t) => {
  const env = { ...quick, ...bounds({ overdue_after_ms: 0, alarm_after_s: 60 }) };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env, cwd: path.dirname(stuckApp) });
  const stuck = await known(sluice, '/loop', 'function');
  const run = await eventually(
    () => sluice.logs.find(({ event, worker }) => event === 'long_run' && worker === stuck['worker']),
    { what: 'the run' },
  );
  const place = `spin (stuck.js:${Number(stuck['line'])}:${Number(stuck['column'])})`;
  assert.deepEqual([run['place'], run['run_ms'], run['class']], [place, stuck['silent_ms'], 'GET /loop']);
  const raised = await eventually(
    () => sluice.logs.find(({ event, alarm }) => event === 'alarm_raised' && alarm === 'long_run'),
    { what: 'the alarm' },
  );
  assert.match(
    String(raised['text']),
    /ran for \d+ ms without a break(, \d+ ms on a CPU)?, until the gateway killed the worker/,
  );
  // On Linux both lines have the CPU time that the thread had until then.
  assert.deepEqual(
    [run['cpu_ms'] === null, stuck['cpu_ms'] === null],
    Array(2).fill(process.platform !== 'linux'),
  );
  assert.ok(Math.abs(Number(run['cpu_ms']) - Number(stuck['cpu_ms'])) <= 1, JSON.stringify([run, stuck]));
  assert.ok(Number(stuck['cpu_ms']) <= Number(stuck['silent_ms']), JSON.stringify(stuck));
  const crash = await eventually(
    () => sluice.logs.find(({ event, alarm }) => event === 'alarm_raised' && alarm === 'crash'),
    { what: 'the alarm of the exit' },
  );
  const called = `, called by /loop (stuck.js:`;
  assert.ok(String(crash['text']).includes(` s in ${place}${called}`), String(crash['text']));
  const { runs } = (await sluice.status()) as unknown as {
    runs: { longest: { ms: number; place: string | null; worker: number }[] };
  };
  const longest = runs.longest.find(({ worker }) => worker === stuck['worker']);
  assert.deepEqual([longest?.ms, longest?.place], [stuck['silent_ms'], place]);
  const text = (await sluice.cli(['status'])).stdout.replaceAll(/\s+/g, ' ');
  assert.match(text, /ALARM long_run of GET \/loop .*The gateway found it in spin \(stuck\.js:\d+:\d+\)\./);
  assert.match(text, /longest recent run: [\d.]+ s in worker \d+, killed in spin \(stuck\.js:/);
});
