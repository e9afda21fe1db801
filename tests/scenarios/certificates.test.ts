// Which certificate a client gets: by the name that it asks for, and after its files have changed. Sessions are resumed, by the
// next gateway too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { type Sluice, app, runSluice, startSluice } from '../support/sluice.ts';
import { bytesOf, end, ownApp } from './scenario.ts';
import { quick, settled, upgraded } from './upgrades.ts';
import { type Files, makeCertificate, missing } from './with-tls.ts';

const table = ({ cert, key }: Files, hosts?: string[]) =>
  `[[server.certificates]]\ncert = "${cert}"\nkey = "${key}"\n` +
  (hosts === undefined ? '' : `hosts = ${JSON.stringify(hosts)}\n`);

async function start(t: TestContext, config: string, env: Record<string, string> = {}): Promise<Sluice> {
  const options = { entry: app('echo.js'), config, env, workers: 1, waitUntilReady: false };
  const sluice = await startSluice(options);
  t.after(() => end(sluice));
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return sluice;
}

/** Connects without a look at who answers, with a session of before if there is one. */
async function connect(
  sluice: Sluice,
  servername: string | undefined,
  more: tls.ConnectionOptions = {},
): Promise<tls.TLSSocket> {
  const name = servername === undefined ? {} : { servername };
  const options = { port: sluice.port, host: '127.0.0.1', rejectUnauthorized: false, ...name, ...more };
  const socket = tls.connect(options);
  await once(socket, 'secureConnect');
  return socket;
}

/** Name in the certificate that a client gets who asks for `servername`. */
async function served(sluice: Sluice, servername?: string): Promise<string> {
  const socket = await connect(sluice, servername);
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

void test('a client gets the certificate of the name that it asks for', { skip: missing }, async (t) => {
  const [main, shop, wild, own] = ['main.test', 'shop.test', '*.shop.test', 'own.test'].map((name) =>
    makeCertificate(t, name),
  ) as [Files, Files, Files, Files];
  const config =
    `[server]\ntls_cert = "${main.cert}"\ntls_key = "${main.key}"\n` +
    table(shop) +
    table(wild) +
    table(own, ['a.example', '*.b.example']);
  const sluice = await start(t, config);
  const expected = {
    'main.test': 'main.test',
    'shop.test': 'shop.test',
    'SHOP.test': 'shop.test',
    'one.shop.test': '*.shop.test',
    'two.one.shop.test': 'main.test',
    'a.example': 'own.test',
    'x.b.example': 'own.test',
    'b.example': 'main.test',
    'own.test': 'main.test',
    'unknown.test': 'main.test',
  };
  const found: Record<string, string> = {};
  for (const name of Object.keys(expected)) found[name] = await served(sluice, name);
  assert.deepEqual(found, expected);
  assert.equal(await served(sluice), 'main.test');
});

void test(
  'requests of the gateway itself have the scheme of clients without a default certificate too',
  { skip: missing },
  async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-schemes-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const file = path.join(dir, 'schemes');
    const config =
      '[warm_up]\npaths = ["/warm"]\n[shell]\npages = { "/" = "/shell" }\n' +
      table(makeCertificate(t, 'shop.test'));
    const entry = ownApp('says-scheme.js');
    const options = { entry, config, env: { SCHEMES: file }, workers: 1, waitUntilReady: false };
    const sluice = await startSluice(options);
    t.after(() => end(sluice));
    const seen = await eventually(
      () => {
        const lines = fs.readFileSync(file, 'utf8').split('\n');
        return ['/warm', '/shell'].every((url) => lines.some((line) => line.startsWith(`${url} `))) && lines;
      },
      { deadlineMs: 30_000, what: 'a warm-up and a request for a shell' },
    );
    for (const line of seen.filter((text) => text !== '')) assert.match(line, / https true$/);
  },
);

void test(
  'without a default certificate the first one is for everybody else',
  { skip: missing },
  async (t) => {
    const sluice = await start(
      t,
      table(makeCertificate(t, 'first.test')) + table(makeCertificate(t, 'second.test')),
    );
    assert.equal(await served(sluice, 'second.test'), 'second.test');
    assert.equal(await served(sluice, 'other.test'), 'first.test');
  },
);

void test('a certificate that is wrong is told with its key at the start', { skip: missing }, async (t) => {
  const [one, other] = [makeCertificate(t, 'one.test'), makeCertificate(t, 'other.test')];
  const dir = one.cert.replace(/cert\.pem$/, '');
  const told = async (config: string) => {
    fs.writeFileSync(`${dir}sluice.toml`, config);
    const { code, stderr } = await runSluice(['check', '--config', `${dir}sluice.toml`]);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(
    await told(table(one) + table({ ...other, key: one.key })),
    /server\.certificates names \S+, which does not match \S+/,
  );
  assert.match(
    await told(`[[server.certificates]]\ncert = "${one.cert}"\n`),
    /server\.certificates needs "key" in every table \(in table 1\)/,
  );
  assert.match(
    await told(`${table(one)}host = ["a.test"]\n`),
    /server\.certificates must contain tables of cert, key, hosts, not "host"; did you mean "hosts"\? \(in table 1\)/,
  );
  assert.match(await told(table(one, ['a b'])), /must contain hosts like www\.example\.com/);
});

void test(
  'changed files are served without a reload, and broken ones leave the certificate as it was',
  { skip: missing },
  async (t) => {
    const [files, next, last] = ['one.test', 'two.test', 'three.test'].map((name) =>
      makeCertificate(t, name),
    ) as [Files, Files, Files];
    const sluice = await start(t, table(files));
    const before = await connect(sluice, 'any.test');
    const replace = (by: Files) => {
      fs.renameSync(by.key, files.key);
      fs.renameSync(by.cert, files.cert);
    };
    replace(next);
    await eventually(async () => (await served(sluice)) === 'two.test', { what: 'the new certificate' });
    // A connection that is open goes on.
    before.write(bytesOf('/'));
    const [answer] = (await once(before, 'data')) as [Buffer];
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
    before.destroy();

    fs.writeFileSync(files.cert, 'no certificate');
    const told = () =>
      sluice.logs.filter(({ text }) => String(text).startsWith('certificates are unchanged'));
    await eventually(() => told().length > 0, { what: 'what is told of the broken file' });
    assert.match(
      String(told()[0]?.['text']),
      /server\.certificates names \S+cert\.pem, which cannot be used/,
    );
    assert.equal(await served(sluice), 'two.test');
    replace(last);
    await eventually(async () => (await served(sluice)) === 'three.test', { what: 'the last certificate' });
    assert.equal(told().length, 1);
  },
);

void test('a reload takes certificates in and leaves others out', { skip: missing }, async (t) => {
  const [one, two] = [makeCertificate(t, 'one.test'), makeCertificate(t, 'two.test')];
  const sluice = await start(t, table(one));
  assert.equal(await served(sluice, 'two.test'), 'one.test');
  fs.writeFileSync(`${sluice.dir}/sluice.toml`, table(two) + table(one, ['x.test']));
  const { code, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 0, stderr);
  assert.equal(await served(sluice, 'two.test'), 'two.test');
  assert.equal(await served(sluice, 'one.test'), 'two.test');
  assert.equal(await served(sluice, 'x.test'), 'one.test');
});

for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
  void test(`a session of ${version} is resumed, by the next gateway too`, { skip: missing }, async (t) => {
    const sluice = await start(t, table(makeCertificate(t)), quick);
    const pin = { minVersion: version, maxVersion: version };
    const visit = async (session?: Buffer) => {
      const socket = await connect(sluice, 'localhost', { ...pin, ...(session && { session }) });
      let latest: Buffer | undefined;
      socket.on('session', (data: Buffer) => (latest = data));
      socket.write(bytesOf('/'));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /);
      const isResumed = socket.isSessionReused();
      const ticket = await eventually(() => latest ?? socket.getSession(), { what: 'a ticket' });
      socket.destroy();
      return { ticket, isResumed };
    };
    const first = await visit();
    assert.equal(first.isResumed, false);
    assert.equal((await visit(first.ticket)).isResumed, true);
    await upgraded(sluice);
    assert.equal((await visit(first.ticket)).isResumed, true);
    await settled(sluice);
    await upgraded(sluice);
    assert.equal((await visit(first.ticket)).isResumed, true);
    assert.doesNotMatch(sluice.stdout + sluice.stderr, /secret/);
  });
}

/** Clients that begin with TLS all at once, each with a request. */
async function burst(sluice: Sluice, count: number): Promise<string[]> {
  const one = async () => {
    const socket = await connect(sluice, 'localhost');
    socket.write(bytesOf('/', 'Connection: close\r\n'));
    let text = '';
    for await (const piece of socket) text += String(piece);
    return text.slice(0, 12);
  };
  return Promise.all(Array.from({ length: count }, one));
}

void test(
  'a burst of handshakes waits for a place, and connected clients do not',
  { skip: missing },
  async (t) => {
    // Fewer places than clients, four of which hold one for as long as they may.
    const sluice = await start(t, table(makeCertificate(t)), bounds({ handshakes_max: 4 }));
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    t.after(() => {
      agent.destroy();
    });
    const ask = async () => {
      const request = https.get(`https://localhost:${sluice.port}/`, { agent });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      await once(response.resume(), 'end');
      return `${response.statusCode} on ${request.socket?.localPort}`;
    };
    const connected = await ask();
    const hello = await clientHello();
    const stalled = Array.from({ length: 4 }, () => {
      const socket = net.connect({ port: sluice.port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write(hello);
      return socket;
    });
    t.after(() => {
      for (const socket of stalled) socket.destroy();
    });
    await Promise.all(stalled.map((socket) => once(socket, 'data')));
    let over = false;
    const served = burst(sluice, 200).finally(() => (over = true));
    let answers = 0;
    do {
      assert.equal(await ask(), connected);
      answers += 1;
    } while (!over);
    assert.deepEqual(new Set(await served), new Set(['HTTP/1.1 200']));
    assert.ok(answers > 1, `${answers} answers while the burst went on`);
  },
);

/** The first bytes that a client of TLS sends. */
async function clientHello(): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const client = tls.connect({ port, host: '127.0.0.1', servername: 'localhost' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [net.Socket];
  const [data] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return data;
}
