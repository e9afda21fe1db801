// A worker whose event loop stands still for a while: another takes its place long before it is judged, and if it only was
// slow, its request is answered.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { allReady, ask, assertRefused, pidOf, running, sent, statusWhen } from './scenario.ts';
import { lineOf, logged, metric, stuckApp } from './stuck.ts';

const env = { ...bounds({ overdue_after_ms: 600 }), SLUICE_WORKERS_STUCK_AFTER_MS: '6000' };
/** For loops that the test ends. */
const patient = { SLUICE_WORKERS_STUCK_AFTER_MS: '120000' };

/** Runs the gateway as most are run: without the privilege to raise a priority. Empty where that is so anyway. */
const unprivileged =
  process.platform === 'linux' && process.getuid?.() === 0
    ? ['setpriv', '--bounding-set', '-sys_nice', '--inh-caps', '-sys_nice']
    : [];

for (const [who, through] of [
  ['an unprivileged gateway', unprivileged],
  ['a gateway as this test may run it', []],
] as const) {
  void test(`a worker in a loop is lowered and replaced before it is killed, by ${who}`, async (t) => {
    const sluice = await running(t, { entry: stuckApp, workers: 2, env, through: [...through] });
    const before = await sluice.status();
    const client = await sent(sluice, '/loop');
    const overdue = await logged(sluice, 'worker_overdue');
    assert.deepEqual([overdue['level'], overdue['target']], ['warn', '/loop']);
    assert.ok(Number(overdue['silent_ms']) >= 600);
    const successor = await logged(sluice, 'worker_recycled');
    assert.deepEqual([successor['worker'], successor['reason']], [overdue['worker'], 'overdue']);
    const id = overdue['worker'];
    const replaced = await statusWhen(
      sluice,
      ({ workers }) => workers.filter(({ state, lowered }) => state === 'ready' && !lowered).length === 2,
      'two workers beside the one that loops',
    );
    assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck'), 'it was not judged yet');
    const looping = replaced.workers.find((worker) => worker.id === id);
    assert.deepEqual([looping?.state, looping?.lowered, looping?.current.length], ['leaving', true, 1]);
    const threads = nicesOf(pidOf(looping));
    assert.ok(
      threads.length > 1 && threads.every((nice) => nice >= 10),
      `nice values of its threads: ${threads.join(', ')}`,
    );
    const looped = before.workers.find((worker) => worker.id === id);
    for (let count = 0; count < 20; count++) {
      const { status, body } = await ask(sluice, '/');
      assert.equal(status, 200);
      assert.notEqual(Number(body.toString()), pidOf(looped));
    }

    // Six times the limit at the latest, as a crowded machine leaves it little CPU time.
    assertRefused(await client.response({ deadlineMs: 50_000 }), 504, 'SLU-WORKER-STUCK');
    const stuck = await logged(sluice, 'worker_stuck');
    assert.deepEqual([stuck['worker'], stuck['target']], [id, '/loop']);
    const exit = await eventually(() =>
      sluice.logs.find((line) => line['event'] === 'worker_exited' && line['worker'] === id),
    );
    assert.equal(exit['reason'], 'stuck');
    assert.match(String(exit['status']), /by the gateway: stuck for \d+\.\d s/);
    const after = await allReady(sluice, 2);
    assert.deepEqual([after.workers.length, after.overlaps_total], [2, 0]);
    assert.equal(await metric(sluice, 'sluice_worker_recycles_total{reason="overdue"}'), 1);
  });
}

void test('a large render goes on and is answered, and a lowered worker leaves after it', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env, through: unprivileged });
  const client = await sent(sluice, '/large');
  const { worker: id } = await logged(sluice, 'worker_overdue');
  // Whoever comes meanwhile does not wait for its end.
  assert.notEqual((await ask(sluice, '/')).body.toString(), 'large\n');
  const { status, body } = await client.response({ deadlineMs: 20_000 });
  assert.deepEqual([status, body.toString()], [200, 'large\n']);
  await eventually(
    () =>
      sluice.logs.some(
        ({ event, worker, expected }) => event === 'worker_exited' && worker === id && expected === true,
      ),
    { what: 'the end of the lowered worker' },
  );
  // The next large render is one too many in so short a time: it gets no stand-in, but its line.
  assert.equal((await ask(sluice, '/large')).status, 200);
  assert.equal(await metric(sluice, 'sluice_worker_recycles_total{reason="overdue"}'), 1);
  const lines = await eventually(() => (overdueLines(sluice).length >= 2 ? overdueLines(sluice) : undefined));
  assert.deepEqual(
    lines.map(({ target }) => target),
    ['/large', '/large'],
  );
  assert.notEqual(lines[0]?.['worker'], lines[1]?.['worker']);
  assert.deepEqual(
    sluice.logs
      .filter(({ event }) => event === 'worker_recycled')
      .map(({ worker, reason }) => [worker, reason]),
    [[id, 'overdue']],
  );
  const { workers, overlaps_total } = await sluice.status();
  assert.deepEqual([workers.length, workers[0]?.lowered, overlaps_total], [1, false, 0]);
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck'));
});

void test('an alarm and a profile show a loop while it runs', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 2, env: { ...env, ...patient } });
  const file = path.join(sluice.runDir, 'end');
  const client = await sent(sluice, `/loop-until?file=${file}`);
  const alarm = await eventually(() =>
    sluice.logs.find(({ event, alarm: which }) => event === 'alarm_raised' && which === 'long_run'),
  );
  const { worker } = await logged(sluice, 'worker_overdue');
  assert.match(
    String(alarm['text']),
    /without a break and continues: a run of request \w+, GET \/loop-until/,
  );
  assert.ok(String(alarm['text']).includes(`\`sluice hotspots --live --worker ${Number(worker)}\``));
  // It is to exit already, and is the one that is asked where none is named.
  for (const which of [['--worker', String(worker)], []]) {
    const { code, stdout, stderr } = await sluice.cli([
      'hotspots',
      '--live',
      '-s',
      '0.5',
      '--json',
      ...which,
    ]);
    assert.equal(code, 0, stderr);
    const { lines } = JSON.parse(stdout) as { lines: { function: string; file: string; line: number }[] };
    const found = lines.find(({ function: name }) => name === 'loopUntil');
    assert.deepEqual(
      [path.basename(found?.file ?? ''), found?.line],
      ['stuck.js', lineOf('function loopUntil')],
    );
  }
  fs.writeFileSync(file, '');
  assert.equal((await client.response({ deadlineMs: 20_000 })).body.toString(), 'ended\n');
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck'));
});

void test('a worker that was profiled in a loop closes its inspector and serves on', async (t) => {
  const off = { ...env, ...patient, ...bounds({ overdue_after_ms: 0 }) };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: off });
  const file = path.join(sluice.runDir, 'end');
  const client = await sent(sluice, `/loop-until?file=${file}`);
  const { code, stdout, stderr } = await sluice.cli(['profile', '-s', '0.5', '--json']);
  assert.equal(code, 0, stderr);
  const { places } = JSON.parse(stdout) as { places: { function: string }[] };
  assert.ok(
    places.some(({ function: name }) => name === 'loopUntil'),
    stdout,
  );
  fs.writeFileSync(file, '');
  assert.equal((await client.response({ deadlineMs: 20_000 })).body.toString(), 'ended\n');
  await eventually(async () => (await ask(sluice, '/inspector')).body.toString() === 'closed\n', {
    what: 'a closed inspector',
  });
  const { workers } = await sluice.status();
  assert.deepEqual(
    workers.map(({ id, state }) => [id, state]),
    [[1, 'ready']],
  );
  assert.ok(!sluice.logs.some(({ line }) => /debugger/i.test(String(line))));
});

void test('a profile that the kill of its worker ends has the position in the code', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  const client = await sent(sluice, '/loop');
  const { code, stderr } = await sluice.cli(['profile', '-s', '60', '--worker', '1']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /worker 1 exited before its profile was complete: it was stuck for [\d.]+ s in spin \(\S*stuck\.js:\d+/,
  );
  assertRefused(await client.response(), 504, 'SLU-WORKER-STUCK');
});

void test('a worker that waits in a synchronous child is profiled after that', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: { ...env, ...patient } });
  const client = await sent(sluice, '/pause');
  const { code, stderr } = await sluice.cli(['profile', '-s', '0.2']);
  assert.equal(code, 0, stderr);
  assert.equal((await client.response({ deadlineMs: 20_000 })).status, 200);
});

void test('no worker is overdue where the bound is 0', async (t) => {
  const off = { ...env, ...bounds({ overdue_after_ms: 0 }) };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: off });
  const pid = pidOf((await sluice.status()).workers[0]);
  assert.equal((await ask(sluice, '/large')).status, 200);
  assert.equal((await ask(sluice, '/')).body.toString(), `${pid}\n`);
  assert.deepEqual(overdueLines(sluice), []);
});

void test('a worker that waits in a synchronous child is not overdue', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  assert.equal((await ask(sluice, '/pause')).status, 200);
  assert.deepEqual(overdueLines(sluice), []);
});

void test('workers have a lower priority than the gateway from their first thread on', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1 });
  const { pid, workers } = await sluice.status();
  if (process.platform !== 'linux') return t.skip('nice values are read in /proc');
  const [own = Number.NaN] = nicesOf(pid);
  const theirs = nicesOf(pidOf(workers[0]));
  assert.ok(
    theirs.length > 1 && theirs.every((nice) => nice === Math.min(own + 2, 19)),
    `${own} and ${theirs.join(', ')}`,
  );
});

function overdueLines(sluice: Sluice): Record<string, unknown>[] {
  return sluice.logs.filter(({ event }) => event === 'worker_overdue');
}

/** Of every thread of the process; `[10, 10]` where there is no /proc. */
function nicesOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  if (!fs.existsSync(tasks)) return [10, 10];
  return fs.readdirSync(tasks).map((thread) => {
    const stat = fs.readFileSync(`${tasks}/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}
