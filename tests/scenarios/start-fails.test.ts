// Starts that cannot succeed: they end soon, with an exit code and the reason on the screen, and leave nothing behind.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Finished, runSluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

function emptyDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-fail-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

async function start(t: TestContext, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  const dir = emptyDir(t);
  const flags = ['--port', String(await freePort()), '--admin', 'off', '--run-dir', path.join(dir, 'run')];
  return runSluice(['start', ...flags, '--workers', '2', ...args], { cwd: dir, env });
}

void test("an app that never listens ends the start with 4 and the app's own stderr", async (t) => {
  const { code, stderr } = await start(t, [app('never-listens.js')], {
    // Long enough for Node to start on a busy machine, as the app has to write its line.
    SLUICE_WORKERS_START_TIMEOUT_MS: '4000',
  });
  assert.equal(code, 4);
  assert.match(stderr, /SLU-APP-NEVER-LISTENED/);
  assert.match(stderr, /waiting for a database that never comes/);
});

void test("an app that exits at boot ends the start with 4 and the app's own stderr", async (t) => {
  const { code, stderr } = await start(t, [app('exits-at-start.js')]);
  assert.equal(code, 4);
  assert.match(stderr, /SLU-APP-EXITED/);
  assert.match(stderr, /the configuration of this app is broken on purpose/);
});

void test('a start that fails does not wait for the clients that are queued, and answers them', async (t) => {
  const [dir, port] = [emptyDir(t), await freePort()];
  const flags = [
    '--port',
    String(port),
    '--admin',
    'off',
    '--run-dir',
    path.join(dir, 'run'),
    '--workers',
    '2',
  ];
  const began = performance.now();
  // Longer than anybody would wait for an app that is not there.
  const env = {
    SLUICE_WORKERS_START_TIMEOUT_MS: '3000',
    SLUICE_QUEUE_WAIT_MS_MAX: '100000',
    SLUICE_DRAIN_TIMEOUT_MS: '100000',
  };
  const started = runSluice(['start', app('never-listens.js'), ...flags], { cwd: dir, env });
  const connection = await eventually(() => RawConnection.connect(port), {
    what: 'a gateway that takes connections',
  });
  connection.send('GET / HTTP/1.1\r\nHost: app\r\n\r\n');
  const answer = await connection.response({ deadlineMs: 60_000 });
  assert.equal(answer.status, 503);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  const { code, stderr } = await started;
  connection.close();
  assert.equal(code, 4);
  assert.match(stderr, /SLU-APP-NEVER-LISTENED/);
  assert.ok(performance.now() - began < 60_000, 'it waits for no deadline of the queue or of the drain');
});

void test('an app that throws at boot ends the start with 4 and its stack', async (t) => {
  const { code, stderr } = await start(t, [ownApp('throws-at-boot.js')]);
  assert.equal(code, 4);
  assert.match(stderr, /Error: thrown at boot on purpose\n\s+at .*throws-at-boot\.js/);
});

void test('a script with a syntax error ends the start with 4 and the place of the error', async (t) => {
  const dir = emptyDir(t);
  fs.writeFileSync(path.join(dir, 'broken.js'), 'const = 1;\n');
  const { code, stderr } = await start(t, [path.join(dir, 'broken.js')]);
  assert.equal(code, 4);
  assert.match(stderr, /broken\.js:1[^]*SyntaxError/);
});

void test('a command that does not exist ends the start with 4 and its name', async (t) => {
  const { code, stderr } = await start(t, ['--', 'no-such-command-anywhere']);
  assert.equal(code, 4);
  assert.match(stderr, /no-such-command-anywhere/);
});

void test('a missing script ends the start with 2 and its path', async (t) => {
  const { code, stderr } = await start(t, ['nowhere.js']);
  assert.equal(code, 2);
  assert.match(stderr, /SLU-ENTRY-MISSING.*nowhere\.js/);
});

void test('a start without any app ends with 2 and says what can be named', async (t) => {
  const { code, stderr } = await start(t, []);
  assert.equal(code, 2);
  assert.match(stderr, /SLU-ENTRY-MISSING/);
});

void test('a port in use ends the start with 5 and names the port', async (t) => {
  const server = net.createServer().listen(0);
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const dir = emptyDir(t);
  const flags = ['--port', String(port), '--admin', 'off', '--run-dir', path.join(dir, 'run')];
  const taken = await runSluice(['start', app('trivial.js'), ...flags], { cwd: dir });
  assert.equal(taken.code, 5);
  assert.match(taken.stderr, new RegExp(`SLU-PORT-IN-USE.*${port}`));
});

void test('an admin address in use ends the start with 5', async (t) => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const dir = emptyDir(t);
  const flags = [
    '--port',
    String(await freePort()),
    '--admin',
    `127.0.0.1:${port}`,
    '--run-dir',
    path.join(dir, 'run'),
  ];
  const taken = await runSluice(['start', app('trivial.js'), ...flags], { cwd: dir });
  assert.equal(taken.code, 5);
  assert.match(taken.stderr, /SLU-PORT-IN-USE/);
});

void test('a run directory in use ends the start, and the one that runs there is not disturbed', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  const args = ['start', app('trivial.js'), '--port', String(await freePort()), '--admin', 'off'];
  const { code, stderr } = await runSluice([...args, '--run-dir', sluice.runDir]);
  assert.equal(code, 1);
  assert.match(stderr, /SLU-RUN-DIR-BUSY/);
  assert.equal((await ask(sluice, '/')).status, 200);
  assert.equal((await sluice.status()).state, 'serving');
});

for (const [name, config, reason] of [
  ['an unknown key', '[queue]\nlenght_max = 5\n', /lenght_max[^]*length_max/],
  ['an unknown section', '[queu]\nlength_max = 5\n', /queu[^]*queue/],
  ['a value out of bounds', '[server]\nport = 99999\n', /server\.port/],
  ['a value of another type', '[workers]\ncount = "two"\n', /workers\.count/],
  ['a file that is no TOML', '[queue\n', /sluice\.toml/],
] as const) {
  void test(`${name} in sluice.toml ends the start with 2 and names the place`, async (t) => {
    const dir = emptyDir(t);
    fs.writeFileSync(path.join(dir, 'sluice.toml'), config);
    const args = ['start', app('trivial.js'), '--port', String(await freePort()), '--admin', 'off'];
    const started = await runSluice([...args, '--run-dir', path.join(dir, 'run')], { cwd: dir });
    assert.equal(started.code, 2);
    assert.match(started.stderr, reason);
    const checked = await runSluice(['check'], { cwd: dir });
    assert.equal(checked.code, 2);
    assert.match(checked.stderr + checked.stdout, reason);
  });
}

void test('a wrong value in the environment ends the start with 2 and names the variable', async (t) => {
  const { code, stderr } = await start(t, [app('trivial.js')], { SLUICE_QUEUE_LENGTH_MAX: 'many' });
  assert.equal(code, 2);
  assert.match(stderr, /SLUICE_QUEUE_LENGTH_MAX/);
});

void test('a key and certificate that cannot be read end the start with 2 and name the file', async (t) => {
  const env = { SLUICE_SERVER_TLS_CERT: '/nowhere/cert.pem', SLUICE_SERVER_TLS_KEY: '/nowhere/key.pem' };
  const { code, stderr } = await start(t, [app('trivial.js')], env);
  assert.equal(code, 2);
  assert.match(stderr, /\/nowhere\/cert\.pem/);
});
