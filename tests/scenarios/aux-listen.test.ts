// A second port of the app: one address on the outside, every worker behind it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { allReady, ownApp, running, statusWhen } from './scenario.ts';

void test('a second port reaches every worker in turn, also after one was killed', async (t) => {
  const port = await freePort();
  const sluice = await running(t, {
    entry: ownApp('two-doors.js'),
    workers: 2,
    env: { SECOND_PORT: String(port) },
  });
  const answers = async (): Promise<Set<string>> =>
    new Set(
      await Promise.all([1, 2, 3, 4].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text())),
    );
  const pidsOf = async (): Promise<Set<string>> =>
    new Set((await allReady(sluice, 2)).workers.map(({ pid }) => `second ${pid}\n`));
  const before = await pidsOf();
  await eventually(async () => (await answers()).size === 2, { what: 'both workers behind the second port' });
  assert.deepEqual(await answers(), before);
  assert.match(await (await fetch(sluice.url)).text(), /^main \d+\n$/);

  const [victim] = (await sluice.status()).workers;
  process.kill(Number(victim?.pid), 'SIGKILL');
  // A connection that was given to the dying worker may break, as it would without a gateway.
  await eventually(async () => (await answers()).size >= 1, { what: 'the worker that is left' });
  await statusWhen(sluice, ({ workers }) => workers[0]?.restarts_total === 1, 'a new worker');
  const now = await pidsOf();
  assert.notDeepEqual(now, before);
  await eventually(async () => (await answers()).size === 2, {
    what: 'both workers behind the second port again',
  });
  assert.deepEqual(await answers(), now);
});

void test('a second port that another process has is served once it is free', async (t) => {
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const { port } = other.address() as net.AddressInfo;
  const env = { SECOND_PORT: String(port) };
  const sluice = await running(t, { entry: ownApp('two-doors.js'), workers: 2, env });
  await eventually(() => sluice.stdout.includes(`also wants to listen on 127.0.0.1:${port}, but`), {
    what: 'the note of the failure',
  });
  other.close();
  await eventually(
    async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()).startsWith('second '),
    { what: 'an answer on the second port' },
  );
  assert.equal(sluice.stdout.split('also wants to listen on').length, 2, 'it was told once');
});

void test('I6: an app gets 32 further addresses and a note, not more', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-doors-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const env = { DOORS: '40', DOORS_DIR: dir };
  const sluice = await running(t, { entry: ownApp('many-doors.js'), workers: 2, env });
  await allReady(sluice, 2);
  await eventually(() => fs.readdirSync(dir).length === 32, { what: '32 further addresses' });
  await eventually(() => sluice.stdout.includes('more than 32 further addresses'), { what: 'the note' });
  assert.equal((await fetch(sluice.url)).status, 200);
  assert.equal(fs.readdirSync(dir).length, 32);
  const agent = { socketPath: path.join(dir, '31.sock') };
  const [response] = (await once(http.get(agent), 'response')) as [http.IncomingMessage];
  assert.equal(response.statusCode, 200);
  response.resume();
});
