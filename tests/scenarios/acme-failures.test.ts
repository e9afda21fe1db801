// What keeps the gateway from a certificate: a CA that is away, refuses or forgets, a full disk, and a config that cannot work.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { StartFailed, app, runSluice, startSluice } from '../support/sluice.ts';
import { FakeCa } from './fake-ca.ts';
import { end } from './scenario.ts';
import { acme, folder, redirectOf, serial, served, start, told } from './with-acme.ts';
import { missing } from './with-tls.ts';

void test('a CA that is away is told of and asked again until it answers', { skip: missing }, async (t) => {
  const [ca, dir] = [new FakeCa(t, await freePort()), folder(t)];
  const sluice = await start(t, ca, dir);
  const away = 'no new certificate for shop.test: the CA cannot be reached';
  await eventually(() => told(sluice, away).length > 0, { what: 'a line of the log' });
  assert.equal(await serial(sluice, ca), undefined, 'no certificate of another kind is served');
  const { certificates } = await sluice.status();
  assert.match(certificates[0]?.problem ?? '', /^the CA cannot be reached: /);
  assert.match((await sluice.cli(['status'])).stdout, /ACME +shop\.test: no certificate yet: the CA cannot/);
  await eventually(async () => (await sluice.status()).alarms.some(({ alarm }) => alarm === 'certificates'), {
    what: 'the alarm',
  });
  await ca.start();
  await served(sluice, ca);
  assert.equal((await sluice.status()).certificates[0]?.problem, null);
});

void test(
  'a challenge that fails is told with what to do, waits across a restart, and is tried again by a reload',
  { skip: missing },
  async (t) => {
    const [ca, dir] = [await FakeCa.start(t), folder(t)];
    const wanted = { reachable: false };
    const first = await start(t, ca, dir, wanted);
    const refused = () => told(first, 'no new certificate for shop.test: the CA refuses (connection)');
    await eventually(() => refused().length > 0, { what: 'a line of the log' });
    assert.match(refused()[0] ?? '', /Let port 80 of the name lead to server\.redirect_port \(\d+\) of this/);
    assert.match(refused()[0] ?? '', /Sluice asks the CA again in (6\d|7[0-2]) s$/);
    await end(first);

    const second = await start(t, ca, dir, wanted);
    const awaited = await eventually(
      async () => {
        const { certificates } = await second.status();
        return certificates[0]?.problem !== null && certificates[0];
      },
      { what: 'what failed before the restart' },
    );
    assert.match(awaited.problem ?? '', /^the CA refuses \(connection\)/);
    assert.ok((awaited.asked_in_s ?? 0) > 20, `asked in ${awaited.asked_in_s} s`);
    assert.equal(ca.orders.length, 1, 'a start does not ask before its time');
    ca.httpPort = redirectOf(second);
    assert.equal((await second.cli(['reload'])).code, 0);
    await served(second, ca);
    assert.equal(ca.orders.length, 2);
  },
);

void test('a CA that says when to come back is obeyed, by a reload too', { skip: missing }, async (t) => {
  const [ca, dir] = [await FakeCa.start(t), folder(t)];
  const detail = 'too many certificates for shop.test';
  ca.refusal = { type: 'rateLimited', detail, status: 429, headers: { 'retry-after': '7000' } };
  const sluice = await start(t, ca, dir);
  const limited = () => told(sluice, `the CA refuses (rateLimited): ${detail}`);
  await eventually(() => limited().length > 0, { what: 'a line of the log' });
  assert.match(limited()[0] ?? '', /Sluice asks the CA again in 116 min$/);
  ca.refusal = undefined;
  assert.equal((await sluice.cli(['reload'])).code, 0);
  // The gateway notices a reload within a second, and a name that may be asked for is asked for then.
  assert.equal((await sluice.cli(['reload'])).code, 0);
  await eventually(async () => (await sluice.status()).generation === 3, { what: 'the reload' });
  const { certificates } = await sluice.status();
  assert.ok((certificates[0]?.asked_in_s ?? 0) > 6_000);
  assert.equal(ca.orders.length, 1);
});

void test('an account that the CA has forgotten is made again', { skip: missing }, async (t) => {
  const [ca, dir] = [await FakeCa.start(t), folder(t)];
  const first = await start(t, ca, dir, { names: ['a.test'] });
  await served(first, ca, 'a.test');
  await end(first);
  ca.forgetAccounts();
  const second = await start(t, ca, dir, { names: ['a.test', 'b.test'] });
  await eventually(() => told(second, 'accountDoesNotExist').length > 0, { what: 'a line of the log' });
  assert.equal((await second.cli(['reload'])).code, 0);
  await served(second, ca, 'b.test');
  assert.equal(ca.accounts.length, 1);
});

void test(
  'a full disk keeps the gateway from asking, and what is served stays as it is',
  { skip: missing || (process.getuid?.() !== 0 && 'only root can mount a tmpfs') },
  async (t) => {
    const [ca, dir] = [await FakeCa.start(t), folder(t)];
    fs.mkdirSync(dir, { mode: 0o700 });
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', dir]).status !== 0) {
      t.skip('tmpfs cannot be mounted here');
      return;
    }
    const first = await start(t, ca, dir, { names: ['a.test'] });
    await served(first, ca, 'a.test');
    await end(first);
    const full = path.join(dir, 'full');
    try {
      fs.writeFileSync(full, Buffer.alloc(1_000_000));
    } catch {
      // As much as there was room for.
    }
    const second = await start(t, ca, dir, { names: ['a.test', 'b.test'] });
    await eventually(() => told(second, 'No space left on device').length > 0, { what: 'a line of the log' });
    assert.match(
      told(second, 'No space left')[0] ?? '',
      /Name a writable directory with acme\.dir, on a disk with free space/,
    );
    assert.equal(ca.orders.length, 1);
    assert.ok(await serial(second, ca, 'a.test'));
    fs.rmSync(full);
    await served(second, ca, 'b.test');
  },
);

void test('what cannot work is told before a start', { skip: missing }, async (t) => {
  const ca = new FakeCa(t, await freePort());
  const dir = folder(t);
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, 'sluice.toml');
  const check = async (config: string, env: Record<string, string> = {}) => {
    fs.writeFileSync(file, config);
    const { code, stderr } = await runSluice(['check', '--config', file], { env });
    assert.equal(code, 2, stderr);
    return stderr;
  };
  const state = path.join(dir, 'state');
  const names = (...names: string[]) => acme(ca, state, { names });
  assert.match(await check(names('*.shop.test')), /acme\.names contains "\*\.shop\.test", .* dns-01/);
  assert.match(await check(names('10.0.0.1')), /which is an address/);
  assert.match(await check(names('a.test', 'A.test')), /contains "A\.test" twice/);
  assert.match(await check('[acme]\nnames = ["shop"]\nterms_agreed = true'), /which has no dot/);
  assert.match(
    await check('[acme]\nnames = ["shop.test"]'),
    /acme\.terms_agreed must be true .*terms of service/,
  );
  assert.match(
    await check('[acme]\nnames = ["shop.test"]\nterms_agreed = true', { HOME: '', XDG_STATE_HOME: '' }),
    /acme\.dir is required, because this user has no home directory/,
  );
  fs.writeFileSync(path.join(dir, 'file'), '');
  assert.match(
    await check(acme(ca, path.join(dir, 'file'))),
    /acme\.dir .*Name a writable directory with acme\.dir/,
  );
  const open = path.join(dir, 'open');
  fs.mkdirSync(path.join(open, `ca-localhost-${ca.port}-dir`), { recursive: true, mode: 0o755 });
  assert.match(await check(acme(ca, open)), /open to other users \(mode 0755\)\. Close it with chmod 700/);
  const starting = startSluice({ entry: app('echo.js'), config: acme(ca, open), workers: 1 });
  await assert.rejects(starting, (error) => error instanceof StartFailed && error.finished.code === 2);
});
