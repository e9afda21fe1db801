// The operator's commands against a gateway that runs, and without one.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, runSluice, type Sluice, startSluice } from '../support/sluice.ts';
import { snapshotOf } from '../support/snapshot.ts';
import { ask, end, Hold, running, sent, statusWhen } from './scenario.ts';

let sluice: Sluice;
before(async () => {
  sluice = await startSluice({ entry: app('spin.js'), workers: 2 });
  await ask(sluice, '/spin?ms=2');
});
after(() => end(sluice));

void test('status --json tells of workers, queue, requests and both kinds of time', async () => {
  await statusWhen(
    sluice,
    (now) => now.workers.every(({ rss_bytes }) => rss_bytes !== null) && now.requests.answered_total > 0,
    'the first reports of the workers',
  );
  const { code, stdout } = await sluice.cli(['status', '--json']);
  assert.equal(code, 0);
  const { workers, requests, queue_wait_ms, service_time_ms } = snapshotOf(JSON.parse(stdout));
  assert.deepEqual(
    workers.map(({ instance }) => instance),
    [0, 1],
  );
  assert.ok(workers.every(({ pid, age_s }) => Number(pid) > 1 && age_s > 0));
  assert.ok(requests.answered_total >= 1);
  assert.ok(service_time_ms.p50 !== null && service_time_ms.p50 >= 1, String(service_time_ms.p50));
  assert.ok(queue_wait_ms.p50 !== null);
});

void test('status for people shows a table with every worker', async () => {
  const { code, stdout } = await sluice.cli(['status']);
  assert.equal(code, 0);
  const pids = (await sluice.status()).workers.map(({ pid }) => String(pid));
  for (const pid of pids) assert.ok(stdout.includes(pid), `${pid} in\n${stdout}`);
});

void test('status shows the current request and for how long', async (t) => {
  const hold = new Hold(t);
  const own = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  const client = await sent(own, '/hold/shown');
  const [worker] = (
    await statusWhen(own, ({ workers }) => workers[0]?.current.length === 1, 'a current request')
  ).workers;
  assert.equal(worker?.current[0]?.class, 'GET /hold/shown');
  await eventually(async () => ((await own.status()).workers[0]?.current[0]?.for_ms ?? 0) > 50);
  hold.release('shown');
  await client.response();
});

void test('logs shows access and app lines, by kind, and follows', async (t) => {
  await ask(sluice, '/spin?ms=1&seen=1');
  const access = await eventually(async () => {
    const { code, stdout } = await sluice.cli(['logs', '--kind', 'access']);
    return code === 0 && stdout.includes('seen=1') ? stdout : undefined;
  });
  assert.ok(!access.includes('worker_started'));
  const [program, args] = [process.env['SLUICE_BINARY'], ['logs', '-f', '--run-dir', sluice.runDir]];
  if (program === undefined) return t.skip('following needs SLUICE_BINARY');
  const follower = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  follower.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await eventually(() => text.includes('seen=1'), { what: 'the lines before' });
  await ask(sluice, '/spin?ms=1&seen=2');
  await eventually(() => text.includes('seen=2'), { what: 'the line that came later' });
  follower.kill('SIGINT');
  await once(follower, 'exit');
});

void test('scale changes the number of workers up and down, and loses no request', async () => {
  let ended = false;
  const load = (async () => {
    while (!ended) assert.equal((await ask(sluice, '/spin?ms=2')).status, 200);
  })();
  for (const wanted of [4, 1, 2]) {
    assert.equal((await sluice.cli(['scale', String(wanted)])).code, 0);
    await statusWhen(
      sluice,
      ({ workers }) =>
        workers.length === wanted && workers.every(({ state }) => state === 'ready' || state === 'busy'),
      `${wanted} workers`,
    );
  }
  ended = true;
  await load;
  assert.equal((await sluice.cli(['scale', '0'])).code, 2);
});

void test('check prints every key with where it comes from', async () => {
  const { code, stdout } = await runSluice(['check', app('trivial.js')], {
    env: { SLUICE_QUEUE_LENGTH_MAX: '7' },
  });
  assert.equal(code, 0);
  assert.match(stdout, /length_max.*7.*SLUICE_QUEUE_LENGTH_MAX/);
});

void test('completion writes a script for every shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runSluice(['completion', shell]);
    assert.equal(code, 0);
    assert.match(stdout, /sluice/);
  }
  assert.equal((await runSluice(['completion', 'nonsense'])).code, 2);
});

void test('every command has help with examples and ends with 0', async () => {
  for (const command of [
    'start',
    'stop',
    'reload',
    'scale',
    'status',
    'top',
    'logs',
    'check',
    'completion',
  ]) {
    const { code, stdout } = await runSluice([command, '--help']);
    assert.equal(code, 0, command);
    assert.match(stdout, /Examples:\n {2}sluice /, command);
  }
});

void test('commands without a gateway end with 3, and wrong usage with 2', async () => {
  for (const command of [['status'], ['stop'], ['reload'], ['scale', '2'], ['logs'], ['top']]) {
    const { code, stderr } = await runSluice([...command, '--run-dir', '/tmp/no-gateway-here']);
    assert.equal(code, 3, command.join(' '));
    assert.match(stderr, /no-gateway-here/);
  }
  assert.equal((await runSluice(['nonsense'])).code, 2);
  assert.equal((await runSluice(['status', '--nonsense'])).code, 2);
});

void test('metrics and probes answer on the admin address, to local names only', async () => {
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /^sluice_requests_total\{[^}]*class="GET \/spin"/m);
  assert.equal((await fetch(`${sluice.admin}/ready`)).status, 200);
  assert.equal((await fetch(`${sluice.admin}/nothing`)).status, 404);
  const rebound = await RawConnection.connect(Number(new URL(sluice.admin).port));
  rebound.send('GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  assert.ok((await rebound.response()).status >= 400);
  rebound.close();
});

void test('ping and readiness are answered without a worker, and readiness says no when nothing moves', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_WAIT_MS_MAX: '300' };
  const own = await running(t, { entry: hold.app, workers: 1, env });
  const client = await sent(own, '/hold/it');
  await hold.began('/hold/it');
  assert.equal((await ask(own, '/.sluice/ping')).body.toString(), 'pong\n');
  await eventually(async () => (await ask(own, '/.sluice/ready')).status === 503, { what: 'not ready' });
  hold.release('it');
  await client.response();
  await eventually(async () => (await ask(own, '/.sluice/ready')).status === 200, { what: 'ready again' });
  assert.ok(!hold.journal.some((line) => line.includes('.sluice')));
});

/** A line to the control socket, as a program other than the CLI could send it; returns the line that comes back. */
async function control(line: string): Promise<Record<string, unknown>> {
  const socket = net.connect(path.join(sluice.runDir, 'control.sock'));
  let received = '';
  socket.on('data', (piece) => (received += piece.toString()));
  socket.write(`${line}\n`);
  await eventually(() => received.includes('\n'), { what: 'an answer', deadlineMs: 3_000 });
  socket.destroy();
  return JSON.parse(received.slice(0, received.indexOf('\n'))) as Record<string, unknown>;
}

void test('I6: the control socket rejects more workers than a gateway can have', async () => {
  const before = await sluice.status();
  for (const workers of ['0', '1025', '999999999', '4294967295', '4294967296', '-1', '1.5', '"2"', 'null']) {
    const answer = await control(`{"command":"scale","workers":${workers}}`);
    assert.equal(answer['ok'], false, `${workers}: ${JSON.stringify(answer)}`);
    assert.match(String(answer['error']), /\w/);
  }
  const after = await sluice.status();
  assert.deepEqual(
    after.workers.map(({ pid }) => pid),
    before.workers.map(({ pid }) => pid),
  );
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
});
