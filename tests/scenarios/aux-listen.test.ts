// A second port of the app: one address on the outside, every worker behind it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { allReady, ownApp, running, statusWhen } from './scenario.ts';
import { makeCertificate, missing } from './with-tls.ts';

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

void test('I6: an app gets at most 32 further addresses, and the log has a note', async (t) => {
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

interface Seen {
  pid: number;
  remote: unknown[];
  local: unknown[];
}

/** What the app says of this connection, and what is true. */
async function ask(
  kind: string,
  to: net.TcpNetConnectOpts,
): Promise<{ seen: Seen; truth: Omit<Seen, 'pid'> }> {
  const raw = net.connect(to);
  raw.on('error', () => {});
  const socket = kind === 'https' ? tls.connect({ socket: raw, rejectUnauthorized: false }) : raw;
  socket.on('error', () => {});
  if (kind === 'net') socket.write('who am I?');
  if (kind.startsWith('http')) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(raw, 'connect');
  const truth = {
    remote: [raw.localAddress, raw.localPort, raw.localFamily],
    local: [raw.remoteAddress, raw.remotePort, raw.remoteFamily],
  };
  let text = '';
  for await (const part of socket) text += String(part);
  return { seen: JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Seen, truth };
}

function certificate(t: TestContext): { KEY: string; CERT: string } {
  const { key, cert } = makeCertificate(t);
  return { KEY: key, CERT: cert };
}

async function served<T>(attempt: () => Promise<T>): Promise<T> {
  let result: T | undefined;
  const isThere = async (): Promise<boolean> => {
    result = await attempt().catch(() => undefined);
    return result !== undefined;
  };
  await eventually(isThere, { what: 'an answer at the further address' });
  return result as T;
}

for (const kind of ['http', 'https', 'net', 'smtp']) {
  const skip = kind === 'https' ? missing : false;
  void test(`a server on a second port sees the addresses of its client: ${kind}`, { skip }, async (t) => {
    const port = await freePort();
    const env = { KIND: kind, FURTHER_PORT: String(port), ...(kind === 'https' ? certificate(t) : {}) };
    await running(t, { entry: ownApp('who-calls.js'), workers: 2, env });
    const to = { port, host: '127.0.0.1' };
    const pids = new Set<number>();
    const isSeen = async (): Promise<boolean> => {
      const { seen, truth } = await served(() => ask(kind, to));
      assert.deepEqual({ remote: seen.remote, local: seen.local }, truth);
      return pids.add(seen.pid).size === 2;
    };
    await eventually(isSeen, { what: 'both workers behind the second port' });
  });
}

void test('a client by IPv4 of a server on every address is one by IPv4; one of a path has no address', async (t) => {
  const port = await freePort();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-who-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const socketPath = path.join(dir, 'who.sock');
  const env = { KIND: 'http', FURTHER_PORT: String(port), FURTHER_HOST: '::', FURTHER_PATH: socketPath };
  await running(t, { entry: ownApp('who-calls.js'), workers: 1, env });
  const { seen, truth } = await served(() => ask('http', { port, host: '127.0.0.1' }));
  assert.deepEqual({ remote: seen.remote, local: seen.local }, truth);
  const response = await served(async () => {
    const [answer] = (await once(http.get({ socketPath }), 'response')) as [http.IncomingMessage];
    return answer;
  });
  assert.deepEqual((JSON.parse(String(await response.setEncoding('utf8').toArray())) as Seen).remote, [
    null,
    null,
    null,
  ]);
});

void test(
  'a server that had the role before sees its clients at its own port',
  { skip: missing },
  async (t) => {
    const port = await freePort();
    const env = { KIND: 'https', FURTHER_PORT: String(port), ASIDE: 'yes', ...certificate(t) };
    const sluice = await running(t, { entry: ownApp('who-calls.js'), workers: 1, env });
    const [worker] = (await allReady(sluice, 1)).workers;
    process.kill(Number(worker?.pid), 'SIGUSR2');
    // A request that is on its way while the role moves may break.
    await eventually(() => sluice.stdout.includes('is now its main server'), {
      what: 'the new role',
    });
    assert.equal(await (await fetch(sluice.url)).text(), 'main\n');
    const { seen, truth } = await served(() => ask('https', { port, host: '127.0.0.1' }));
    assert.deepEqual({ remote: seen.remote, local: seen.local }, truth);
    assert.equal(seen.pid, worker?.pid);
  },
);

void test('a connection that a leaving worker did not take goes to the next one', async (t) => {
  const port = await freePort();
  const env = { KIND: 'http', FURTHER_PORT: String(port) };
  const sluice = await running(t, { entry: ownApp('who-calls.js'), workers: 2, env });
  const to = { port, host: '127.0.0.1' };
  const pids = new Set<number>();
  const areBothThere = async (): Promise<boolean> =>
    pids.add((await served(() => ask('http', to))).seen.pid).size === 2;
  await eventually(areBothThere, { what: 'both workers behind the second port' });
  const [victim] = (await sluice.status()).workers;
  process.kill(Number(victim?.pid), 'SIGSTOP');
  // Two of four go to the worker that takes nothing any more.
  const asked = Promise.all([1, 2, 3, 4].map(() => ask('http', to)));
  await Promise.race([asked, pause(300)]);
  process.kill(Number(victim?.pid), 'SIGKILL');
  for (const { seen, truth } of await asked) {
    assert.notEqual(seen.pid, victim?.pid);
    assert.deepEqual({ remote: seen.remote, local: seen.local }, truth);
  }
});
