// `sluice upgrade`: another gateway process takes the place of the one that runs, and clients must not notice. What may go
// wrong meanwhile is in `upgrade-faults.test.ts`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { long } from '../support/chance.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { app } from '../support/sluice.ts';
import {
  ask,
  bytesOf,
  gone,
  Hold,
  isAlive,
  nothingLeftOf,
  ownApp,
  running,
  sent,
  statusWhen,
} from './scenario.ts';
import { filesOf, quick, settled, tempDir, upgraded } from './upgrades.ts';
import { Versions } from './versions.ts';

const websocket =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGVzdA==\r\n';

/** Clients that ask again and again, on connections that are kept or not, until they are told to stop. */
class Load {
  answered = 0;
  readonly failures: string[] = [];
  #ended = false;
  readonly #clients: Promise<void>[];

  constructor(url: string) {
    this.#clients = [
      ...[0, 1, 2, 3].map(() => this.#client(url, new http.Agent({ keepAlive: true, maxSockets: 1 }), 0)),
      // These are idle most of the time, so that a gateway that closes idle connections would meet them.
      ...[0, 1, 2, 3].map(() => this.#client(url, new http.Agent({ keepAlive: true, maxSockets: 1 }), 25)),
      ...[0, 1, 2, 3].map(() => this.#client(url, new http.Agent({ keepAlive: false }), 0)),
    ];
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
  }

  async #client(url: string, agent: http.Agent, pauseMs: number): Promise<void> {
    while (!this.#ended) {
      try {
        const status = await this.#ask(url, agent);
        if (status === 200) this.answered += 1;
        else this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(String(error));
      }
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    agent.destroy();
  }

  #ask(url: string, agent: http.Agent): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      http
        .get(url, { agent }, (response) => {
          response
            .resume()
            .on('end', () => {
              resolve(response.statusCode);
            })
            .on('error', reject);
        })
        .on('error', reject);
    });
  }
}

void test('I3: upgrades under load fail no request and no connection', { timeout: 240_000 }, async (t) => {
  const upgrades = long ? 10 : 5;
  const sluice = await running(t, { entry: app('spin.js'), workers: 2, env: quick });
  const first = await sluice.gatewayPid();
  const seen = new Set([first]);
  const load = new Load(`${sluice.url}/spin?ms=1`);
  for (let count = 0; count < upgrades; count++) {
    const before = load.answered;
    seen.add(await upgraded(sluice));
    await settled(sluice);
    await eventually(() => load.answered > before + 50, { what: 'load between two upgrades' });
  }
  await load.end();
  assert.deepEqual(load.failures, []);
  assert.ok(load.answered > upgrades * 50, String(load.answered));
  assert.equal(seen.size, upgrades + 1, 'each time another process serves');
  const middle = [...seen].slice(1, -1);
  await gone(middle);
  assert.ok(sluice.running && isAlive(first), 'the first process stays');
  const serving = await sluice.gatewayPid();
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished()).code, 0);
  await gone([serving, first]);
  await nothingLeftOf(sluice);
  assert.deepEqual(filesOf(sluice), ['lock']);
});

void test(
  'the first process is small while others serve',
  { skip: !fs.existsSync('/proc/self') && 'needs /proc' },
  async (t) => {
    const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env: quick });
    const first = await sluice.gatewayPid();
    await upgraded(sluice);
    await eventually(() => fs.readFileSync(`/proc/${first}/cmdline`, 'utf8').includes('shepherd'));
    // Without the program's own data, which the loader relocates: 1.9 MiB in a debug build, and more with each feature.
    const mappings = fs.readFileSync(`/proc/${first}/smaps`, 'utf8').split(/^(?=[\da-f]+-[\da-f]+ )/m);
    const program = fs.readlinkSync(`/proc/${first}/exe`);
    const own = mappings.filter((mapping) => !mapping.split('\n', 1)[0]?.endsWith(program));
    const anonymous_kib = own.map((mapping) => Number(/^Anonymous:\s+(\d+) kB/m.exec(mapping)?.[1] ?? 0));
    const sum_kib = anonymous_kib.reduce((sum, kib) => sum + kib, 0);
    assert.ok(sum_kib > 0 && sum_kib < 1_500, `${sum_kib} KiB of its own`);
  },
);

void test('what the old gateway has is finished: in service, queued, and one more on an idle connection', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '20000' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const first = await sluice.gatewayPid();
  const idle = await sent(sluice, '/before');
  assert.equal((await idle.response()).headers.get('connection'), undefined);
  const clients = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  for (let index = 0; index < 3; index++) clients.push(await sent(sluice, `/queued/${index}`));
  await statusWhen(sluice, ({ queue }) => queue.length === 3, 'three queued requests');
  const second = await upgraded(sluice);
  assert.notEqual(second, first);
  // The new one has a worker of its own, so it need not wait for the old one's.
  assert.equal((await ask(sluice, '/new')).status, 200);
  const refused = await sluice.cli(['upgrade']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /the previous gateway still finishes its requests/);
  idle.send(bytesOf('/once-more'));
  hold.release('first');
  for (const client of [...clients, idle]) {
    const response = await client.response();
    assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
    await client.untilClosed();
  }
  await settled(sluice);
  assert.equal(hold.journal.filter((line) => line.startsWith('overlap')).length, 0);
  assert.equal((await sluice.cli(['stop'])).code, 0);
  assert.equal((await sluice.finished()).code, 0);
});

void test('an idle connection is closed after half of the drain, and nobody else waits for it', async (t) => {
  const sluice = await running(t, {
    entry: app('trivial.js'),
    workers: 1,
    env: { SLUICE_DRAIN_TIMEOUT_MS: '2000' },
  });
  const idle = await sent(sluice, '/');
  await idle.response();
  const began = performance.now();
  await upgraded(sluice);
  assert.equal(idle.closed, false);
  await idle.untilClosed();
  assert.ok(performance.now() - began > 900, 'it had its grace');
  await settled(sluice);
});

void test('a WebSocket stays with the old gateway until drain.timeout_ms', async (t) => {
  const sluice = await running(t, {
    entry: app('stream.js'),
    workers: 1,
    env: { SLUICE_DRAIN_TIMEOUT_MS: '2000' },
  });
  const connection = await sent(sluice, '/ws', websocket);
  assert.equal((await connection.response()).status, 101);
  const began = performance.now();
  await upgraded(sluice);
  connection.send('still here');
  await connection.untilBytes('still here');
  await connection.untilClosed();
  assert.ok(performance.now() - began > 1_900, 'it had the whole time');
  await settled(sluice);
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
});

void test('a reload that an upgrade overtakes is in force with it', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, workers: 1, env: { ...versions.env, ...quick } });
  versions.next({ version: 'two', never_listens: true });
  const reloading = sluice.cli(['reload']);
  await eventually(() => sluice.stdout.includes('runs two'), { what: 'the reload' });
  versions.next({ version: 'three' });
  const pid = await upgraded(sluice);
  const { code, stdout, stderr } = await reloading;
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`an upgrade has taken over: process ${pid} serves now, .*it is in force`));
  assert.equal((await ask(sluice, '/')).body.toString(), 'three');
});

void test('a reload that is asked for during an upgrade may not be in force with it, and says so', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, workers: 1, env: { ...versions.env, ...quick } });
  versions.next({ version: 'two', listens_after_ms: 1_500 });
  const upgrading = upgraded(sluice);
  await eventually(() => sluice.stdout.includes('runs two'), { what: 'the upgrade' });
  versions.next({ version: 'three', never_listens: true });
  const reloading = sluice.cli(['reload']);
  await eventually(() => sluice.stdout.includes('runs three'), { what: 'the reload' });
  const pid = await upgrading;
  const { code, stderr } = await reloading;
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`an upgrade has taken over: process ${pid} serves now, .*Reload again`));
  assert.equal((await ask(sluice, '/')).body.toString(), 'two');
});

void test('the new gateway has the config and the program as they are on disk now', async (t) => {
  const sluice = await running(t, {
    entry: app('trivial.js'),
    workers: 1,
    env: quick,
    config: '[log]\naccess = true\n',
  });
  assert.equal((await ask(sluice, '/')).headers.get('server-timing'), undefined);
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), '[log]\naccess = true\nserver_timing = true\n');
  await upgraded(sluice);
  assert.match((await ask(sluice, '/')).headers.get('server-timing') ?? '', /worker/);
  assert.equal((await fetch(`${sluice.admin}/metrics`)).status, 200);
  await settled(sluice);
  const binary = process.env['SLUICE_BINARY'];
  if (binary === undefined || !fs.existsSync('/proc/self'))
    return t.skip('another binary needs SLUICE_BINARY and /proc');
  const other = path.join(sluice.dir, 'another');
  fs.copyFileSync(binary, other);
  const pid = await upgraded(sluice, '--binary', other);
  assert.equal(fs.readlinkSync(`/proc/${pid}/exe`), other);
  await settled(sluice);
  // From then on that is the path that is looked at.
  fs.rmSync(other);
  fs.copyFileSync(binary, other);
  assert.equal(fs.readlinkSync(`/proc/${await upgraded(sluice)}/exe`), other);
});

void test('an upgrade can move to another directory, where the same words mean another release', async (t) => {
  const dir = tempDir(t);
  const release = (name: string): string => {
    const place = path.join(dir, name);
    fs.mkdirSync(place);
    const answer = `(_, response) => response.end('${name}')`;
    const text = `require('node:http').createServer(${answer}).listen(process.env.PORT);\n`;
    fs.writeFileSync(path.join(place, 'server.js'), text);
    return place;
  };
  const current = path.join(dir, 'current');
  fs.symlinkSync(release('one'), current);
  const sluice = await running(t, { entry: 'server.js', cwd: current, workers: 1, env: quick });
  assert.equal((await ask(sluice, '/')).body.toString(), 'one');
  fs.unlinkSync(current);
  fs.symlinkSync(release('two'), current);
  await upgraded(sluice, '--cwd', current);
  assert.equal((await ask(sluice, '/')).body.toString(), 'two');
});

void test('a second port of the app is handed over too', async (t) => {
  const port = await freePort();
  const sluice = await running(t, {
    entry: ownApp('two-doors.js'),
    workers: 1,
    env: { ...quick, SECOND_PORT: String(port) },
  });
  const second = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/`)).text();
  const before = await eventually(second, { what: 'an answer on the second port' });
  await upgraded(sluice);
  // Shorter than the period after which an address that is in use is tried again.
  await eventually(async () => (await second()) !== before, {
    deadlineMs: 1_000,
    what: 'the new worker behind it',
  });
});
