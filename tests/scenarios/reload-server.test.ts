// What `[server]` says, and the certificate, come into force with a reload; connections that are open keep theirs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, end, running } from './scenario.ts';
import { makeCertificate, missing, tlsConnection } from './with-tls.ts';

function configure(sluice: Sluice, text: string): void {
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), text);
}

async function reload(sluice: Sluice): Promise<string> {
  const { code, stdout, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 0, stdout + stderr);
  return stdout + stderr;
}

void test('limits on requests and who is trusted come into force with a reload', async (t) => {
  const sluice = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    config: '[server]\nbody_bytes_max = 10\n',
  });
  const send = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${sluice.port}/`, {
      method: 'POST',
      body: 'x'.repeat(20),
      headers: { 'x-forwarded-proto': 'https', 'x-long': 'y'.repeat(20_000) },
    });
  assert.equal((await send()).status, 431);
  configure(sluice, '[server]\nbody_bytes_max = 10\nheaders_bytes_max = 40000\n');
  await reload(sluice);
  assert.equal((await send()).status, 413);
  configure(sluice, '[server]\nheaders_bytes_max = 40000\ntrusted_peers = ["127.0.0.0/8"]\n');
  const told = await reload(sluice);
  assert.doesNotMatch(told, /restart/);
  // The new worker takes the longer head as well.
  const answer = await send();
  assert.equal(answer.status, 200);
  const seen = (await answer.json()) as { headers: Record<string, string> };
  assert.equal(seen.headers['x-forwarded-proto'], 'https');
});

void test('who is no longer trusted is not on a connection that stays open either', async (t) => {
  const sluice = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    config: '[server]\ntrusted_peers = ["127.0.0.0/8"]\n',
  });
  const connection = await RawConnection.connect(sluice.port);
  const told = async (): Promise<unknown> => {
    connection.send('GET / HTTP/1.1\r\nHost: app\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n');
    const { body } = await connection.response();
    return (JSON.parse(body.toString()) as { headers: Record<string, string> }).headers['x-forwarded-for'];
  };
  assert.equal(await told(), '192.0.2.7');
  configure(sluice, '');
  await reload(sluice);
  assert.equal(await told(), '127.0.0.1');
  connection.close();
});

void test('a reload with an error leaves what is in force', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  configure(sluice, '[server]\ntrusted_peers = ["nobody"]\nbody_bytes_max = 1\n');
  const refused = await sluice.cli(['reload']);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stdout + refused.stderr, /server\.trusted_peers/);
  assert.equal((await ask(sluice, '/')).status, 200);
  configure(sluice, '[rate]\nexempt = ["192.0.2.0/24"]\n');
  assert.match(await reload(sluice), /needs a restart to apply: rate\.exempt/);
});

/** The serial number of the certificate that new connections see. */
async function serial(sluice: Sluice, ca: Buffer): Promise<string> {
  const socket = await tlsConnection(sluice, ca);
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

interface Named {
  readonly sluice: Sluice;
  readonly cert: string;
  readonly key: string;
}

/** Its files are named in `sluice.toml`, at names that stay when they are renewed. */
async function startNamed(t: TestContext): Promise<Named> {
  const { cert, key } = makeCertificate(t);
  const config = `[server]\ntls_cert = "${cert}"\ntls_key = "${key}"\n`;
  const sluice = await startSluice({ entry: app('echo.js'), workers: 1, config, waitUntilReady: false });
  t.after(() => end(sluice));
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return { sluice, cert, key };
}

void test(
  'a renewed certificate comes into force with a reload, and a broken one does not',
  { skip: missing },
  async (t) => {
    const { sluice, cert, key } = await startNamed(t);
    const before = fs.readFileSync(cert);
    const open = await tlsConnection(sluice, before);
    const renewed = makeCertificate(t);
    fs.copyFileSync(renewed.cert, cert);
    const mismatched = await sluice.cli(['reload']);
    assert.notEqual(mismatched.code, 0);
    assert.match(mismatched.stdout + mismatched.stderr, /server\.tls_key.*does not match/s);
    assert.equal(await serial(sluice, before), open.getPeerCertificate().serialNumber);
    fs.copyFileSync(renewed.key, key);
    await reload(sluice);
    assert.notEqual(await serial(sluice, fs.readFileSync(cert)), open.getPeerCertificate().serialNumber);
    open.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const answer = await eventually(() => open.read() as Buffer | null, {
      what: 'an answer on the open connection',
    });
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    open.destroy();
    configure(sluice, '');
    const plain = await sluice.cli(['reload']);
    assert.notEqual(plain.code, 0);
    assert.match(plain.stdout + plain.stderr, /server\.tls_cert no longer names a certificate/);
  },
);
