// Who may ask: networks that are allowed or denied, and users with a password, refused before a worker or a file is asked.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { StartFailed, app, runSluice, sluiceCommand, startSluice } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, ownApp, recordOf, running, statusWhen } from './scenario.ts';

const from = (address: string): { headers: string } => ({ headers: `X-Forwarded-For: ${address}\r\n` });
const basic = (pair: string): string => `Authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`;
const as = (pair: string): { headers: string } => ({ headers: basic(pair) });

function tempDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-access-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** What `sluice access hash` prints for this password. */
async function hash(password: string, ...args: string[]): Promise<string> {
  const [program, programArgs] = sluiceCommand(['access', 'hash', '--cost', '10', ...args]);
  const child = spawn(program, programArgs, { stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stdin.end(`${password}\nsecond line`);
  await once(child, 'close');
  assert.equal(child.exitCode, 0);
  assert.ok(!printed.includes(password));
  return printed.trim();
}

interface Seen {
  headers: Record<string, string>;
}
const seenBy = (response: RawResponse): Seen => JSON.parse(response.body.toString()) as Seen;

void test('clients outside of allow and inside of deny get 403 and no worker, and probes still 200', async (t) => {
  const config =
    '[server]\ntrusted_peers = ["127.0.0.1"]\n[access]\nallow = ["10.0.0.0/8", "2001:db8::/32"]\ndeny = ["10.0.0.7"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '10.0.0.8']) {
    assert.equal((await ask(sluice, '/', from(address))).status, 200, address);
  }
  await statusWhen(sluice, ({ workers }) => workers[0]?.requests_total === 4, 'four requests served');
  for (const address of ['10.0.0.7', '192.0.2.1', '::1', '10.1.2.3, 192.0.2.1']) {
    assertRefused(await ask(sluice, '/?denied', from(address)), 403, 'SLU-ACCESS-DENIED');
  }
  // The proxy's own requests are its own.
  assertRefused(await ask(sluice, '/'), 403, 'SLU-ACCESS-DENIED');
  assert.equal((await sluice.status()).workers[0]?.requests_total, 4);
  for (const probe of ['/.sluice/ping', '/.sluice/ready'])
    assert.equal((await ask(sluice, probe)).status, 200);
  assert.equal((await fetch(`${sluice.admin}/metrics`)).status, 200);
  // Anything but a probe at such a path is the app's.
  assert.equal((await ask(sluice, '/.sluice/ping', { method: 'POST', body: 'x' })).status, 403);
  const record = await recordOf(sluice, '/?denied');
  assert.deepEqual(
    ['status', 'error', 'outcome', 'worker'].map((name) => record[name]),
    [403, 'SLU-ACCESS-DENIED', 'rejected', null],
  );
});

void test('a trusted proxy may say who the client is by Forwarded alone', async (t) => {
  const config =
    '[server]\ntrusted_peers = ["127.0.0.1"]\n[access]\ndeny = ["192.0.2.0/24", "2001:db8::/32"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const by = (forwarded: string) => ({ headers: `Forwarded: ${forwarded}\r\n` });
  for (const forwarded of [
    'for=192.0.2.1',
    'for="[2001:db8::1]:443";proto=https',
    'for="198.51.100.1, for=192.0.2.1',
  ]) {
    assertRefused(await ask(sluice, '/?denied', by(forwarded)), 403, 'SLU-ACCESS-DENIED');
  }
  assert.equal((await recordOf(sluice, '/?denied'))['peer'], '192.0.2.1');
  assert.equal((await ask(sluice, '/', by('for=192.0.2.1, for=198.51.100.1'))).status, 200);
});

void test('nobody without a trusted proxy says another address', async (t) => {
  const sluice = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    config: '[access]\ndeny = ["192.0.2.0/24"]\n',
  });
  assert.equal((await ask(sluice, '/', from('192.0.2.1'))).status, 200);
  const inverted = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    config: '[access]\nallow = ["192.0.2.0/24"]\n',
  });
  assertRefused(await ask(inverted, '/', from('192.0.2.1')), 403, 'SLU-ACCESS-DENIED');
});

void test('users are let in with their passwords, which the app, the log and the config do not show', async (t) => {
  const dir = tempDir(t);
  fs.writeFileSync(path.join(dir, 'users'), `# staging\n${await hash('of bob', 'bob')}\n`);
  fs.mkdirSync(path.join(dir, 'files'));
  fs.writeFileSync(path.join(dir, 'files/app.js'), 'file');
  const config = [
    `[files]\npaths = { "/assets/" = "${path.join(dir, 'files')}" }`,
    `[access]\nbasic_auth_file = "${path.join(dir, 'users')}"`,
    'basic_auth_exempt = ["/.well-known/acme-challenge", "/hook"]',
    `[access.basic_auth]\nanna = "${await hash('Grüße:x')}"\n`,
  ].join('\n');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });

  for (const target of ['/', '/assets/app.js', '/assets/missing.js']) {
    const refused = await ask(sluice, target);
    assertRefused(refused, 401, 'SLU-LOGIN-REQUIRED');
    assert.equal(refused.headers.get('www-authenticate'), 'Basic realm="Restricted", charset="UTF-8"');
    assert.equal(refused.headers.get('cache-control'), 'no-store');
  }
  for (const pair of ['anna:Grüße:X', 'anna:', 'carl:x', 'of bob:bob']) {
    assertRefused(await ask(sluice, '/', as(pair)), 401, 'SLU-LOGIN-REQUIRED');
  }
  for (const headers of ['Authorization: Bearer x\r\n', `${basic('anna:Grüße:x')}${basic('bob:of bob')}`]) {
    assertRefused(await ask(sluice, '/', { headers }), 401, 'SLU-LOGIN-REQUIRED');
  }
  assert.equal((await sluice.status()).workers[0]?.requests_total, 0);

  for (const pair of ['anna:Grüße:x', 'bob:of bob', 'anna:Grüße:x']) {
    const response = await ask(sluice, '/page', as(pair));
    assert.equal(response.status, 200, pair);
    assert.equal(seenBy(response).headers['authorization'], undefined, 'the app sees no password');
    assert.equal((await ask(sluice, '/assets/app.js', as(pair))).body.toString(), 'file');
  }
  // Where no password is needed, the header is the app's.
  for (const target of ['/hook', '/hook/deep?x', '/.well-known/acme-challenge/token']) {
    assert.equal(
      seenBy(await ask(sluice, target, as('own:own'))).headers['authorization'],
      basic('own:own').slice(15, -2),
    );
    assert.equal((await ask(sluice, target)).status, 200);
  }
  for (const target of [
    '/hooks',
    '/hook/../page',
    '/hook/%2e%2e/page',
    '/hook/..%2fpage',
    '//hook',
    '/hook/..\\page',
  ]) {
    assertRefused(await ask(sluice, target), 401, 'SLU-LOGIN-REQUIRED');
  }
  for (const probe of ['/.sluice/ping', '/.sluice/ready'])
    assert.equal((await ask(sluice, probe)).status, 200);

  const encoded = basic('anna:Grüße:x').slice(21, -2);
  for (const text of [sluice.stdout, sluice.stderr]) {
    assert.ok(!text.includes('Grüße') && !text.includes(encoded) && !text.includes('$2b$'));
  }
});

void test('the body of a refused upload is not taken', async (t) => {
  const config = `[access.basic_auth]\nanna = "${await hash('secret')}"\n`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/upload', 'Content-Length: 1000000\r\nExpect: 100-continue\r\n', 'POST'));
  assertRefused(await connection.response(), 401, 'SLU-LOGIN-REQUIRED');
  assert.equal((await connection.untilClosed()).length, 0);
  connection.close();
  const upload = await ask(sluice, '/upload', { method: 'POST', body: 'x=1', ...as('anna:secret') });
  assert.equal(upload.status, 200);
});

void test('an address that guesses has to wait, and users who are in do not', async (t) => {
  const config = [
    '[server]\ntrusted_peers = ["127.0.0.1"]',
    `[access.basic_auth]\nanna = "${await hash('secret')}"\nbob = "${await hash('other')}"\n`,
  ].join('\n');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const ask1 = async (pair: string, address = '192.0.2.1'): Promise<RawResponse> =>
    ask(sluice, '/', { headers: `${basic(pair)}X-Forwarded-For: ${address}\r\n` });
  assert.equal((await ask1('anna:secret')).status, 200);
  const guesses = await Promise.all(Array.from({ length: 14 }, async (_, guess) => ask1(`anna:${guess}`)));
  const statuses = guesses.map(({ status }) => status);
  assert.ok(statuses.filter((status) => status === 401).length <= 12, String(statuses));
  const limited = guesses.find(({ status }) => status === 429) ?? assert.fail(String(statuses));
  assertRefused(limited, 429, 'SLU-LOGIN-LIMITED');
  assert.match(limited.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.equal((await ask1('anna:secret')).status, 200, 'who is in stays in');
  assert.equal((await ask1('bob:other', '192.0.2.2')).status, 200, 'another address');
});

void test('a reload changes users and networks, and one that cannot be read changes nothing', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'sluice.toml');
  const write = (text: string): void => {
    fs.writeFileSync(file, text);
  };
  write(`[access.basic_auth]\nanna = "${await hash('secret')}"\n`);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, flags: ['--config', file] });
  assert.equal((await ask(sluice, '/', as('anna:secret'))).status, 200);
  write(`[access.basic_auth]\nanna = "${await hash('changed')}"\n`);
  assert.equal((await sluice.cli(['reload'])).code, 0);
  assertRefused(await ask(sluice, '/', as('anna:secret')), 401, 'SLU-LOGIN-REQUIRED');
  assert.equal((await ask(sluice, '/', as('anna:changed'))).status, 200);
  write(`[access]\nbasic_auth_file = "${path.join(dir, 'missing')}"\n`);
  const refused = await sluice.cli(['reload']);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr + refused.stdout, /access\.basic_auth_file names .*missing/);
  assertRefused(await ask(sluice, '/'), 401, 'SLU-LOGIN-REQUIRED');
  write('[access]\ndeny = ["::/0", "0.0.0.0/0"]\n');
  assert.equal((await sluice.cli(['reload'])).code, 0);
  assertRefused(await ask(sluice, '/'), 403, 'SLU-ACCESS-DENIED');
});

void test('what means nothing is refused by check and by start, without what may be a password', async (t) => {
  const dir = tempDir(t);
  fs.writeFileSync(path.join(dir, 'server.js'), '');
  const good = await hash('secret');
  const check = async (text: string): Promise<string> => {
    fs.writeFileSync(path.join(dir, 'sluice.toml'), text);
    const { stdout, stderr } = await runSluice(['check'], { cwd: dir });
    return stdout + stderr;
  };
  const plain = await check('[access.basic_auth]\nanna = "in the clear"\n');
  assert.match(plain, /access\.basic_auth has for "anna" no bcrypt hash .* `sluice access hash`/);
  assert.ok(!plain.includes('in the clear'));
  assert.match(
    await check('[access]\nallow = ["intranet"]\n'),
    /access\.allow must contain addresses or networks/,
  );
  const shown = await check(`[access.basic_auth]\nanna = "${good}"\n`);
  assert.match(shown, /basic_auth = \{ "anna" = "…" \}/);
  assert.match(shown, /access\.basic_auth has users, but the config has no TLS for clients/);
  assert.ok(!shown.includes(good));
  fs.writeFileSync(path.join(dir, 'users'), 'anna:$apr1$x$y\n');
  const config = `[access]\nbasic_auth_file = "${path.join(dir, 'users')}"\n`;
  await assert.rejects(startSluice({ entry: app('trivial.js'), config }), (error) => {
    assert.ok(error instanceof StartFailed);
    assert.match(error.finished.stderr, /access\.basic_auth_file names .*users:1, which is no bcrypt hash/);
    return true;
  });
});

void test('a page that the gateway keeps is for users alone, and for the clients that may ask', async (t) => {
  const config = `[cache]\nenabled = true\n[access.basic_auth]\nanna = "${await hash('secret')}"\n`;
  const env = { RENDERS_FILE: path.join(tempDir(t), 'renders') };
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config, env });
  const target = '/a?cc=public,max-age=60';
  for (const kept of ['stored', 'hit']) {
    const response = await ask(sluice, target, as('anna:secret'));
    assert.equal(response.status, 200);
    assert.match(response.headers.get('cache-status') ?? '', new RegExp(`\\b${kept}\\b`));
  }
  const refused = await ask(sluice, target);
  assertRefused(refused, 401, 'SLU-LOGIN-REQUIRED');
  assert.equal(refused.headers.get('cache-status'), undefined);
});
