// Apps without the preload, as in Deno, Bun or Python: they listen on SLUICE_SOCKET and report nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { app, runSluice, type Sluice, type StartOptions } from '../support/sluice.ts';
import {
  allReady,
  ask,
  assertRefused,
  ownApp,
  pidOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

/** A plain Node.js: what loads the preload is taken out of its environment. */
const stripped = (script: string): string[] => ['env', '-u', 'NODE_OPTIONS', process.execPath, script];

function start(t: TestContext, options: StartOptions = {}): Promise<Sluice> {
  return running(t, { command: stripped(ownApp('own-socket.js')), workers: 1, ...options });
}

function emptyDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-other-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

async function holdsNothing(sluice: Sluice): Promise<void> {
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'no slot held');
}

void test('an app without the preload is served once it listens on SLUICE_SOCKET', async (t) => {
  const sluice = await start(t, { workers: 2 });
  const { workers } = await allReady(sluice, 2);
  for (const target of ['/length', '/chunked', '/close', '/length']) {
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(sluice, target)));
    for (const { status, body } of answers) assert.deepEqual([status, body.toString()], [200, 'hello']);
  }
  for (const target of ['/length', '/chunked']) {
    const { status, body } = await ask(sluice, target, { method: 'HEAD' });
    assert.deepEqual([status, body.length], [200, 0]);
  }
  assert.equal((await ask(sluice, '/headers', { method: 'POST', body: 'a body' })).status, 200);
  await holdsNothing(sluice);
  for (const worker of workers) {
    assert.deepEqual([worker.rss_bytes, worker.cpu_ms_total], [null, null], 'its vitals are unknown');
    assert.ok(sluice.stdout.includes(`listens ${pidOf(worker)}`), 'its process is the one that listens');
  }
  assert.match((await sluice.cli(['status'])).stdout, /\n +1 ready +- +- +- +\d+ +[\d.]+m?s +\d+\n/);
});

void test('an app without the preload sees the address of its client in a header', async (t) => {
  const sluice = await start(t);
  const forged = 'X-Sluice-Request: id=1;peer=192.0.2.9:1;local=192.0.2.9:1;proto=https\r\n';
  const seen = JSON.parse((await ask(sluice, '/headers', { headers: forged })).body.toString()) as Record<
    string,
    string
  >;
  assert.match(
    seen['x-sluice-request'] ?? '',
    new RegExp(
      `^id=\\d+;token=[0-9a-f]{16};peer=127\\.0\\.0\\.1:\\d+;local=127\\.0\\.0\\.1:${sluice.port};proto=http$`,
    ),
  );
  assert.equal(seen['x-forwarded-for'], '127.0.0.1');
});

void test('streams of an app without the preload leave the slot', async (t) => {
  const sluice = await start(t);
  const events = await sent(sluice, '/events');
  await events.untilBytes('data: first');
  const upgraded = await sent(sluice, '/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n');
  assert.equal((await upgraded.response()).status, 101);
  upgraded.send('there and back');
  await upgraded.untilBytes('there and back');
  await statusWhen(sluice, (now) => now.streams === 2 && slotsHeld(now) === 0, 'two streams and no slot');
  assert.equal((await ask(sluice, '/length')).status, 200);
  events.close();
  upgraded.close();
  await statusWhen(sluice, (now) => now.streams === 0, 'the end of the streams');
});

for (const [target, code] of [
  ['/broken', 'worker_fault'],
  ['/garbage', 'worker_fault'],
] as const) {
  void test(`I1: after ${target} a worker that reports nothing is replaced, and serving continues`, async (t) => {
    const sluice = await start(t);
    const before = pidOf((await allReady(sluice, 1)).workers[0]);
    const connection = await sent(sluice, target);
    // Nobody confirms the end of this request, so its slot is not given to the next.
    const next = ask(sluice, '/length');
    if (target === '/garbage') {
      assertRefused(await connection.response(), 502, 'SLU-WORKER-ANSWER-MALFORMED');
    } else await connection.untilClosed();
    connection.close();
    assert.equal((await next).status, 200);
    const now = await statusWhen(
      sluice,
      ({ workers }) => workers.length === 1 && workers[0]?.restarts_total === 1,
      'a new worker',
    );
    assert.notEqual(pidOf(now.workers[0]), before);
    await holdsNothing(sluice);
    assert.equal((await sluice.status()).requests.outcomes[code], 1);
  });
}

void test('an app without the preload gets SIGTERM at a stop, also below a shell', async (t) => {
  const script = `env -u NODE_OPTIONS ${process.execPath} ${ownApp('own-socket.js')}; exit 0`;
  const sluice = await start(t, { command: ['sh', '-c', script] });
  assert.equal((await ask(sluice, '/length')).status, 200);
  sluice.signal('SIGTERM');
  const { code, stdout } = await sluice.finished();
  assert.equal(code, 0);
  assert.match(stdout, /asked to leave/);
});

void test('a worker is not ready before its app listens', async (t) => {
  const gate = path.join(emptyDir(t), 'listen');
  for (const command of [stripped(ownApp('own-socket.js')), [process.execPath, ownApp('own-socket.js')]]) {
    fs.rmSync(gate, { force: true });
    const sluice = await start(t, { command, env: { LISTEN_WHEN: gate }, waitUntilReady: false });
    await eventually(() => sluice.status(), { what: 'the gateway' });
    // Long enough for a dozen looks at the socket.
    const until = performance.now() + 1_500;
    while (performance.now() < until) {
      const { workers } = await sluice.status();
      assert.equal(workers[0]?.state, 'starting');
      await wait(20);
    }
    fs.writeFileSync(gate, '');
    await allReady(sluice, 1);
    assert.equal((await ask(sluice, '/length')).status, 200);
    const isPlain = command[0] === 'env';
    if (isPlain) {
      await eventually(() => sluice.stdout.includes('without the preload'), { what: 'the note' });
      assert.equal((await sluice.status()).workers[0]?.rss_bytes, null);
    } else {
      await statusWhen(sluice, ({ workers }) => workers[0]?.rss_bytes !== null, 'the vitals of a preload');
      assert.ok(!sluice.stdout.includes('without the preload'), 'a preload speaks for itself');
    }
  }
});

void test('an app that listens nowhere ends the start with a word on SLUICE_SOCKET', async (t) => {
  const dir = emptyDir(t);
  const env = { SLUICE_WORKERS_START_TIMEOUT_MS: '700' };
  const flags = ['--port', '0', '--admin', 'off', '--run-dir', path.join(dir, 'run'), '--workers', '1'];
  const args = ['start', ...flags, '--', ...stripped(app('never-listens.js'))];
  const { code, stderr, stdout } = await runSluice(args, { cwd: dir, env });
  assert.equal(code, 4);
  assert.match(stderr, /SLU-APP-NEVER-LISTENED.*SLUICE_SOCKET/);
  assert.match(stdout, /did not listen in time.*SLUICE_SOCKET/);
});

const python = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';

void test('a server in Python is served', { skip: python }, async (t) => {
  const sluice = await start(t, { command: ['python3', ownApp('own-socket.py')], workers: 2 });
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask(sluice, '/')));
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.toString()], [200, 'python, for 127.0.0.1\n']);
  }
  await holdsNothing(sluice);
  assert.equal((await sluice.stop()).code, 0);
});
