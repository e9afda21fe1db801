// Settings that have no story of their own do what their description says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { app, startSluice } from '../support/sluice.ts';
import { eventually } from '../support/eventually.ts';
import { ask, bytesOf, end, Hold, ownApp, running, sent, statusWhen } from './scenario.ts';

void test('server.keep_alive_timeout_ms ends an idle connection, and no other', async (t) => {
  const env = { SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '500' };
  const sluice = await running(t, { entry: app('stream.js'), workers: 1, env });
  const busy = await sent(sluice, '/sleep?ms=1500');
  const fresh = await RawConnection.connect(sluice.port);
  const started = performance.now();
  const idle = await sent(sluice, '/');
  await idle.response();
  assert.equal((await idle.untilClosed()).length, 0);
  const idle_ms = performance.now() - started;
  assert.ok(idle_ms >= 500, `closed after ${idle_ms} ms`);
  assert.equal((await busy.response()).body.toString(), 'slept\n');
  // One that has not sent anything yet has the time for headers.
  fresh.send(bytesOf('/'));
  assert.equal((await fresh.response()).status, 200);
  for (const connection of [busy, fresh, idle]) connection.close();
});

void test('edge.ping_path and edge.ready_path move, and the app gets the old paths', async (t) => {
  const env = { SLUICE_EDGE_PING_PATH: '/alive', SLUICE_EDGE_READY_PATH: '/willing' };
  const sluice = await startSluice({ entry: app('echo.js'), workers: 1, env, waitUntilReady: false });
  t.after(() => end(sluice));
  await eventually(async () => (await ask(sluice, '/willing')).status === 200, { what: 'readiness' });
  assert.equal((await ask(sluice, '/alive')).body.toString(), 'pong\n');
  assert.equal(
    (JSON.parse((await ask(sluice, '/willing')).body.toString()) as { ready: boolean }).ready,
    true,
  );
  for (const target of ['/.sluice/ping', '/.sluice/ready']) {
    const seen = JSON.parse((await ask(sluice, target)).body.toString()) as { url: string };
    assert.equal(seen.url, target);
  }
});

void test('empty edge paths leave every path to the app', async (t) => {
  const env = { SLUICE_EDGE_PING_PATH: '', SLUICE_EDGE_READY_PATH: '' };
  const sluice = await startSluice({ entry: app('echo.js'), workers: 1, env, waitUntilReady: false });
  t.after(() => end(sluice));
  for (const target of ['/.sluice/ping', '/.sluice/ready', '/']) {
    const response = await eventually(async () => ask(sluice, target), { what: 'the app' });
    assert.equal((JSON.parse(response.body.toString()) as { url: string }).url, target);
  }
});

void test('log.server_timing adds what a request waited and took, and is off unless asked for', async (t) => {
  const env = { SLUICE_LOG_SERVER_TIMING: 'true' };
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: { ...hold.env, ...env } });
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const second = await sent(sluice, '/second');
  await statusWhen(sluice, ({ queue }) => queue.oldest_wait_ms >= 500, 'a second one that has waited');
  hold.release('first');
  const timings = [];
  for (const connection of [first, second]) {
    const timing = (await connection.response()).headers.get('server-timing') ?? '';
    const match = /^queue;dur=(\d+\.\d), worker;dur=(\d+\.\d)$/.exec(timing);
    assert.ok(match, timing);
    timings.push({ queue_ms: Number(match[1]), worker_ms: Number(match[2]) });
    connection.close();
  }
  const [early, late] = timings;
  assert.ok(early && late);
  assert.ok(early.worker_ms >= 500 && early.queue_ms < early.worker_ms, JSON.stringify(early));
  assert.ok(late.queue_ms >= 500 && late.worker_ms < late.queue_ms, JSON.stringify(late));

  const silent = await running(t, { entry: app('stream.js'), workers: 1 });
  assert.ok(!(await ask(silent, '/')).headers.has('server-timing'));
});

void test('app.node_args reach Node.js, app.args the script', async (t) => {
  const config = `[app]\nentry = ${JSON.stringify(ownApp('corners.js'))}\nnode_args = ["--max-old-space-size=123", "--no-deprecation"]\nargs = ["--mine", "two words"]\n`;
  const sluice = await running(t, { config, workers: 1 });
  const seen = JSON.parse((await ask(sluice, '/arguments')).body.toString()) as {
    execArgv: string[];
    argv: string[];
  };
  for (const option of ['--max-old-space-size=123', '--no-deprecation']) {
    assert.ok(seen.execArgv.includes(option), seen.execArgv.join(' '));
  }
  assert.deepEqual(seen.argv, ['--mine', 'two words']);
});
