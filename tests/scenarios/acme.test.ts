// Certificates that the gateway gets by ACME, from a small CA: the first one, its successor, and who gets which.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { FakeCa } from './fake-ca.ts';
import { bytesOf, end } from './scenario.ts';
import { upgraded } from './upgrades.ts';
import { connect, folder, serial, served, start, told } from './with-acme.ts';
import { makeCertificate, missing } from './with-tls.ts';

void test(
  'a first certificate comes over http-01, is private on disk, and is not asked for again after a restart',
  { skip: missing },
  async (t) => {
    const [ca, dir] = [await FakeCa.start(t), folder(t)];
    ca.refusesNonces = true;
    const contact = 'contact = "ops@shop.test"';
    // The CA is not among those who may ask, and asks all the same.
    const first = await start(t, ca, dir, { config: `${contact}\n[access]\ndeny = ["127.0.0.1", "::1"]` });
    await served(first, ca);
    assert.deepEqual([ca.orders.length, ca.orders[0]?.tried], [1, 'http-01']);
    assert.deepEqual(ca.accounts[0]?.contact, ['mailto:ops@shop.test']);
    const redirect = await RawConnection.connect(ca.httpPort);
    redirect.send(bytesOf('/.well-known/acme-challenge/nobody-asked-for-this', 'Connection: close\r\n'));
    assert.match((await redirect.untilClosed()).toString(), /^HTTP\/1\.1 403 /);
    for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const { mode } = fs.statSync(path.join(entry.parentPath, entry.name));
      assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
    }
    await end(first);

    const second = await start(t, ca, dir);
    assert.ok(await serial(second, ca), 'the certificate is there from the first connection');
    const { certificates, alarms } = await second.status();
    assert.deepEqual(
      certificates.map(({ name, key, problem }) => ({ name, key, problem })),
      [{ name: 'shop.test', key: 'acme.names', problem: null }],
    );
    assert.ok(
      (certificates[0]?.expires_in_s ?? 0) > 89 * 86_400 && (certificates[0]?.asked_in_s ?? 0) > 56 * 86_400,
    );
    assert.deepEqual(alarms, []);
    const metrics = await (await fetch(`${second.admin}/metrics`)).text();
    assert.match(metrics, /^sluice_certificate_expiry_seconds\{certificate="shop\.test"\} 77\d{5}/m);
    assert.match((await second.cli(['status'])).stdout, /certificate +shop\.test expires in 89 d 23 h/);
    assert.deepEqual([ca.orders.length, ca.accounts.length], [1, 1]);
  },
);

void test(
  'a certificate is renewed in time, by the gateway of an upgrade too, and disturbs no connection',
  { skip: missing },
  async (t) => {
    const [ca, dir] = [await FakeCa.start(t), folder(t)];
    ca.lifetimeS = 12;
    const sluice = await start(t, ca, dir, { tlsAlone: true });
    const first = await served(sluice, ca);
    assert.equal(ca.orders[0]?.tried, 'tls-alpn-01');
    const open = await connect(sluice, ca);
    const another = async (...before: (string | undefined)[]) =>
      eventually(
        async () => {
          const now = await serial(sluice, ca);
          return now !== undefined && !before.includes(now) && now;
        },
        { what: 'another certificate', deadlineMs: 15_000 },
      );
    const second = await another(first);
    open.write(bytesOf('/'));
    const [answer] = (await once(open, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    open.destroy();
    await upgraded(sluice);
    await another(first, second);
    // A look more often than the CA is asked: each order was for a renewal.
    assert.ok(ca.orders.length >= 3 && ca.orders.length <= 5, `${ca.orders.length} orders`);
    assert.equal(ca.accounts.length, 1);
  },
);

void test('two gateways with one folder ask once, and both serve', { skip: missing }, async (t) => {
  const [ca, dir] = [await FakeCa.start(t), folder(t)];
  const names = { names: ['a.test', 'b.test'] };
  const [first, second] = await Promise.all([start(t, ca, dir, names), start(t, ca, dir, names)]);
  for (const name of names.names) {
    for (const sluice of [first, second]) assert.ok(await served(sluice, ca, name));
    assert.equal(await serial(first, ca, name), await serial(second, ca, name));
  }
  assert.deepEqual([ca.orders.length, ca.accounts.length], [2, 1]);
});

void test('a name gets its own certificate or none, and others the default', { skip: missing }, async (t) => {
  const [ca, dir] = [await FakeCa.start(t), folder(t)];
  ca.refusal = { type: 'rejectedIdentifier', detail: 'not this one', status: 400 };
  const own = makeCertificate(t, 'own.test');
  const config = `[[server.certificates]]\ncert = "${own.cert}"\nkey = "${own.key}"\n`;
  const sluice = await start(t, ca, dir, { config });
  const name = async (servername: string) => {
    const options = { port: sluice.port, host: '127.0.0.1', servername, rejectUnauthorized: false };
    const socket = tls.connect(options);
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  assert.deepEqual([await name('shop.test'), await name('other.test')], ['own.test', 'own.test']);
  ca.refusal = undefined;
  await eventually(() => told(sluice, 'rejectedIdentifier').length > 0, { what: 'a line of the log' });
  assert.equal((await sluice.cli(['reload'])).code, 0);
  await eventually(async () => (await name('shop.test')) === 'shop.test', { what: 'the certificate' });
  assert.deepEqual([await name('own.test'), await name('other.test')], ['own.test', 'own.test']);
});
