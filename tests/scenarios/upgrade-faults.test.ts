// What may go wrong during `sluice upgrade`: before the new gateway serves it must cost nothing, and afterwards no process
// may be left alone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, type Finished, type Sluice } from '../support/sluice.ts';
import {
  ask,
  gone,
  Hold,
  nothingLeftOf,
  ownApp,
  processesOf,
  refuses,
  running,
  sent,
  statusWhen,
} from './scenario.ts';
import { filesOf, quick, settled, tempDir, upgraded } from './upgrades.ts';

/** An upgrade that fails and changes nothing. */
async function failsAndChangesNothing(sluice: Sluice, reason: RegExp, ...flags: string[]): Promise<Finished> {
  const before = await sluice.status();
  const files = filesOf(sluice);
  const failed = await sluice.cli(['upgrade', ...flags]);
  assert.equal(failed.code, 1, failed.stdout);
  assert.match(failed.stderr, /the upgrade failed, and this gateway continues/);
  assert.match(failed.stderr, reason);
  const after = await sluice.status();
  assert.deepEqual(
    [after.pid, after.state, after.workers.map(({ pid }) => pid)],
    [before.pid, 'serving', before.workers.map(({ pid }) => pid)],
  );
  assert.equal((await ask(sluice, '/')).status, 200);
  await eventually(() => processesOf(sluice).length <= before.workers.length, {
    what: 'the end of the new workers',
  });
  await eventually(() => {
    const names = filesOf(sluice).filter((name) => !/^w\d$/.test(name));
    return names.sort().join() === files.filter((name) => !/^w\d$/.test(name)).join();
  });
  return failed;
}

void test('a new gateway that fails leaves the old one as it was, and says why', async (t) => {
  const dir = tempDir(t);
  const entry = path.join(dir, 'server.js');
  const works = `require('node:http').createServer((_, response) => response.end('ok\\n')).listen(process.env.PORT);\n`;
  fs.writeFileSync(entry, works);
  const sluice = await running(t, { entry, workers: 1, env: quick, config: '[log]\naccess = true\n' });
  const config = path.join(sluice.dir, 'sluice.toml');

  fs.writeFileSync(config, '[log]\naccess = true\ncolour = "red"\n');
  await failsAndChangesNothing(sluice, /colour/);
  fs.writeFileSync(config, '[server]\ntls_cert = "missing.pem"\ntls_key = "missing.pem"\n');
  await failsAndChangesNothing(sluice, /missing\.pem/);
  fs.writeFileSync(config, '[server]\nhost = "127.0.0.1"\n');
  await failsAndChangesNothing(sluice, /An upgrade keeps the address/);
  fs.writeFileSync(config, '[log]\naccess = true\n');

  fs.writeFileSync(entry, `throw new Error('broken on purpose');\n`);
  await failsAndChangesNothing(sluice, /broken on purpose/);
  fs.writeFileSync(entry, 'setInterval(() => {}, 1000);\n');
  await failsAndChangesNothing(sluice, /not ready within 700 ms/, '--timeout-ms', '700');
  fs.writeFileSync(entry, works);

  await failsAndChangesNothing(sluice, /no-such-sluice/, '--binary', path.join(dir, 'no-such-sluice'));
  const ends = path.join(dir, 'ends.sh');
  fs.writeFileSync(ends, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  await failsAndChangesNothing(sluice, /exit status: 3/, '--binary', ends);

  // Failures leave nothing behind that would stand in the way of the next.
  await upgraded(sluice);
});

void test('a new gateway that is killed before it is ready leaves the old one as it was', async (t) => {
  const flag = path.join(tempDir(t), 'open');
  fs.writeFileSync(flag, '');
  const sluice = await running(t, {
    entry: ownApp('listens-when-let.js'),
    workers: 2,
    env: { ...quick, LET: flag },
  });
  const [first, old] = [await sluice.gatewayPid(), processesOf(sluice)];
  fs.rmSync(flag);
  const upgrade = sluice.cli(['upgrade']);
  const fresh = await eventually(
    () => {
      const pid = /is started as process (\d+)/.exec(sluice.stdout)?.[1];
      // The first of its workers boots alone.
      return pid !== undefined && processesOf(sluice).length === 3 ? Number(pid) : undefined;
    },
    { what: 'a worker of the new gateway' },
  );
  const second = await sluice.cli(['upgrade']);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /another upgrade is in progress/);
  process.kill(fresh, 'SIGKILL');
  const failed = await upgrade;
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /signal: 9/);
  await eventually(() => processesOf(sluice).length === 2, { what: 'the end of its workers' });
  assert.deepEqual(processesOf(sluice), old);
  assert.equal(await sluice.gatewayPid(), first);
  assert.equal((await ask(sluice, '/')).status, 200);
  fs.writeFileSync(flag, '');
  await upgraded(sluice);
});

void test('a new gateway that dies while it takes over gives everything back', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env: quick });
  const first = await sluice.gatewayPid();
  const files = filesOf(sluice);
  const failed = await sluice.cli(['upgrade', '--binary', ownApp('dies-at-takeover.js')]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /exit status: 9/);
  // It had taken the public names along.
  await statusWhen(sluice, ({ pid, state }) => pid === first && state === 'serving', 'the old gateway');
  assert.equal(fs.readFileSync(path.join(sluice.runDir, 'sluice.pid'), 'utf8').trim(), String(first));
  assert.deepEqual(filesOf(sluice), files);
  assert.equal((await ask(sluice, '/')).status, 200);
  await upgraded(sluice);
});

void test('a gateway that leaves takes the one that was to replace it along', async (t) => {
  const flag = path.join(tempDir(t), 'open');
  fs.writeFileSync(flag, '');
  const sluice = await running(t, {
    entry: ownApp('listens-when-let.js'),
    workers: 1,
    env: { ...quick, LET: flag },
  });
  fs.rmSync(flag);
  const upgrade = sluice.cli(['upgrade']);
  await eventually(() => processesOf(sluice).length === 2, { what: 'the worker of the new gateway' });
  sluice.signal('SIGTERM');
  assert.equal((await upgrade).code, 1);
  assert.equal((await sluice.finished()).code, 0);
  await nothingLeftOf(sluice);
  assert.deepEqual(filesOf(sluice), ['lock']);
});

void test('an old gateway that is killed after the takeover takes nothing with it', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, {
    entry: hold.app,
    workers: 1,
    env: { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '20000' },
  });
  const first = await sluice.gatewayPid();
  const client = await sent(sluice, '/hold/never');
  await hold.began('/hold/never');
  const serving = await upgraded(sluice);
  process.kill(first, 'SIGKILL');
  await client.untilClosed();
  await eventually(() => processesOf(sluice).length === 1, { what: 'the end of its worker' });
  assert.equal((await ask(sluice, '/after')).status, 200);
  assert.equal(await sluice.gatewayPid(), serving);
  // It can be upgraded and stopped as before.
  const next = await eventually(() => upgraded(sluice), { what: 'an upgrade of the one that is left' });
  assert.equal((await ask(sluice, '/after')).status, 200);
  assert.equal((await sluice.cli(['stop'])).code, 0);
  await gone([serving, next]);
  await nothingLeftOf(sluice);
});

void test('a gateway that is killed ends the process that stands for it, with failure', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 2, env: quick });
  await upgraded(sluice);
  await settled(sluice);
  const serving = await upgraded(sluice);
  await settled(sluice);
  process.kill(serving, 'SIGKILL');
  const { code } = await sluice.finished(20_000);
  assert.equal(code, 137);
  await nothingLeftOf(sluice);
});

void test('signals reach the gateway that serves', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env: quick });
  await upgraded(sluice);
  await settled(sluice);
  sluice.signal('SIGTTIN');
  await statusWhen(sluice, ({ workers }) => workers.length === 2, 'a second worker');
  sluice.signal('SIGINT');
  assert.equal((await sluice.finished()).code, 0);
  await nothingLeftOf(sluice);
});

void test('a signal while the old gateway still drains ends both', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, {
    entry: hold.app,
    workers: 1,
    env: { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '20000' },
  });
  const idle = await sent(sluice, '/idle');
  await idle.response();
  const client = await sent(sluice, '/hold/slow');
  await hold.began('/hold/slow');
  const serving = await upgraded(sluice);
  sluice.signal('SIGTERM');
  await gone([serving]);
  await idle.untilClosed();
  await eventually(() => refuses(sluice), { what: 'the end of the port' });
  hold.release('slow');
  assert.equal((await client.response()).status, 200);
  assert.equal((await sluice.finished()).code, 0);
  await nothingLeftOf(sluice);
});
