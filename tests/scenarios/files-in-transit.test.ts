// Files that are being sent: what clients, the disk and the operator may do meanwhile.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { ask, bytesOf, recordOf, statusWhen } from './scenario.ts';
import { isFromApp, script, Site } from './site.ts';

void test('a file that becomes shorter while it is sent ends the connection before its end', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 30_000_000);
  const sluice = await site.start(t);
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/assets/big.bin') + bytesOf('/assets/app.js'));
  await connection.untilBytes('\r\n\r\n');
  connection.pause();
  fs.truncateSync(site.path('site/big.bin'), 1_000);
  connection.resume();
  const rest = await connection.untilClosed(20_000);
  assert.ok(rest.length < content.length, `${rest.length} bytes came`);
  assert.ok(
    rest.equals(content.subarray(0, rest.length)),
    'what came is what was there, and nothing behind it',
  );
  connection.close();
  assert.equal((await ask(sluice, '/assets/app.js')).body.toString(), script);
});

void test('a file that is replaced or removed while it is sent arrives as it was', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 20_000_000);
  const sluice = await site.start(t);
  const connection = await RawConnection.connect(sluice.port);
  connection.pause();
  connection.send(bytesOf('/assets/big.bin'));
  await statusWhen(sluice, (now) => now.connections === 1, 'the connection');
  connection.resume();
  await connection.untilBytes('\r\n\r\n');
  connection.pause();
  site.write('site/new', 'new');
  fs.renameSync(site.path('site/new'), site.path('site/big.bin'));
  assert.equal((await ask(sluice, '/assets/big.bin')).body.toString(), 'new');
  fs.rmSync(site.path('site/big.bin'));
  assert.ok(isFromApp(await ask(sluice, '/assets/big.bin')));
  connection.resume();
  await eventually(() => connection.received.length >= content.length, {
    what: 'the whole file',
    deadlineMs: 20_000,
  });
  assert.ok(connection.received.equals(content));
  connection.close();
});

void test('I2: clients that do not read their file use little memory and delay no other client', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 30_000_000);
  const sluice = await site.start(t);
  const residentBytes = async (): Promise<number> => {
    const status = fs.readFileSync(`/proc/${await sluice.gatewayPid()}/status`, 'utf8');
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
  };
  const before = fs.existsSync('/proc/self') ? await residentBytes() : 0;
  const connections = await Promise.all(Array.from({ length: 40 }, () => RawConnection.connect(sluice.port)));
  for (const connection of connections) {
    connection.pause();
    connection.send(bytesOf('/assets/big.bin'));
  }
  await statusWhen(sluice, (now) => now.connections >= 40, 'the slow connections');
  for (let round = 0; round < 20; round++) {
    assert.equal((await ask(sluice, '/assets/app.js')).body.toString(), script);
    assert.ok(isFromApp(await ask(sluice, '/')));
  }
  if (before > 0) {
    const grown = (await residentBytes()) - before;
    assert.ok(grown < 20_000_000, `memory grew by ${grown} bytes`);
  }
  const [first] = connections;
  first?.resume();
  const response = await first?.response({ deadlineMs: 20_000 });
  assert.ok(response?.body.equals(content));
  for (const connection of connections) connection.close();
  await statusWhen(sluice, (now) => now.connections === 0, 'the end of the connections');
});

void test('I2: a client that reads nothing of its file for too long is disconnected', async (t) => {
  const site = new Site(t);
  site.big('site/big.bin', 30_000_000);
  const sluice = await site.start(t, { SLUICE_SERVER_SEND_TIMEOUT_MS: '500' });
  const connection = await RawConnection.connect(sluice.port);
  t.after(() => {
    connection.close();
  });
  connection.pause();
  connection.send(bytesOf('/assets/big.bin'));
  const record = await recordOf(sluice, '/assets/big.bin');
  assert.equal(record['outcome'], 'edge');
  assert.ok(Number(record['bytes_out']) < 30_000_000, `${String(record['bytes_out'])} bytes were sent`);
  await statusWhen(sluice, (now) => now.connections === 0, 'the end of its connection');
});

void test('many requests on one connection are answered in order, files and app in turn', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 200_000);
  const sluice = await site.start(t);
  const connection = await RawConnection.connect(sluice.port);
  for (let round = 0; round < 50; round++) {
    connection.send(
      bytesOf('/assets/app.js') +
        bytesOf(`/app/${round}`) +
        bytesOf('/assets/big.bin') +
        bytesOf('/assets/missing.js') +
        bytesOf('/assets/app.js', 'Range: bytes=0-6\r\n'),
    );
    assert.equal((await connection.response()).body.toString(), script);
    assert.ok((await connection.response()).body.includes(`/app/${round}`));
    assert.ok((await connection.response()).body.equals(content));
    assert.ok(isFromApp(await connection.response()));
    assert.equal((await connection.response()).body.toString(), script.slice(0, 7));
  }
  // The other end of keep-alive: asked to close, and HTTP/1.0 with and without it.
  connection.send(bytesOf('/assets/app.js', 'Connection: close\r\n'));
  assert.equal((await connection.response()).headers.get('connection'), 'close');
  await connection.untilClosed();
  const old = await RawConnection.connect(sluice.port);
  old.send('GET /assets/app.js HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  assert.equal((await old.response()).headers.get('connection'), 'keep-alive');
  old.send('GET /assets/app.js HTTP/1.0\r\n\r\n');
  assert.equal((await old.response()).body.toString(), script);
  assert.equal((await old.untilClosed()).length, 0);
});

void test('a file that is on its way is finished by a drain', async (t) => {
  const site = new Site(t);
  const content = site.big('site/big.bin', 20_000_000);
  const sluice = await site.start(t);
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/assets/big.bin'));
  await connection.untilBytes('\r\n\r\n');
  connection.pause();
  sluice.signal('SIGTERM');
  await eventually(
    async () =>
      RawConnection.connect(sluice.port).then(
        () => false,
        () => true,
      ),
    {
      what: 'the end of accepting',
    },
  );
  connection.resume();
  assert.ok((await connection.untilClosed(20_000)).equals(content));
  assert.equal((await sluice.finished()).code, 0);
});
