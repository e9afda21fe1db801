// A version that some visitors try first: who gets it, how it is promoted or rolled back, and that nobody loses a request by that.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { gone, ownApp, running } from './scenario.ts';
import { allOf } from './versions.ts';

interface Version {
  version: string;
  units?: number;
  fails_every?: number;
  dies_after?: number;
}

interface Trial {
  generation: number;
  state: string;
  reason: string | null;
  share: number | null;
  requests: number;
  requests_present: number;
  findings: { measure: string; verdict: string; change: number | null; sure: number }[];
}

const VISITORS = 200;
const byAddress = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
const address = (visitor: number): string => `10.0.${visitor >> 8}.${visitor & 255}`;

class Site {
  readonly file: string;
  readonly sluice: Sluice;

  private constructor(file: string, sluice: Sluice) {
    this.file = file;
    this.sluice = sluice;
  }

  static async start(
    t: TestContext,
    { config = byAddress, workers = 2, version = { version: 'one' } as Version } = {},
  ): Promise<Site> {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-trial-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const file = path.join(dir, 'version.json');
    fs.writeFileSync(file, JSON.stringify(version));
    const sluice = await running(t, { entry: ownApp('trial.cjs'), workers, config, env: { VERSION_FILE: file } });
    await allOf(sluice, 1, workers);
    return new Site(file, sluice);
  }

  next(version: Version): void {
    fs.writeFileSync(`${this.file}.new`, JSON.stringify(version));
    fs.renameSync(`${this.file}.new`, this.file);
  }

  async trial(): Promise<Trial | null> {
    const { code, stdout, stderr } = await this.sluice.cli(['canary', '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Trial | null;
  }

  async until(state: string): Promise<Trial> {
    return eventually(async () => {
      const trial = await this.trial();
      return trial?.state === state ? trial : undefined;
    }, { deadlineMs: 40_000, what: `a trial that is ${state}` });
  }
}

interface Got {
  status: number;
  version: string;
  cookie: string;
  body: string;
}

function get(site: Site, target: string, headers: http.OutgoingHttpHeaders, agent: http.Agent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${site.sluice.url}${target}`, { agent, headers, timeout: 20_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (body += piece));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          version: String(response.headers['x-version']),
          cookie: (response.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; '),
          body,
        });
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 20 s')));
    request.on('error', reject);
  });
}

/** Visitors who ask one page after the other until told to end. */
class Visitors {
  readonly failures: string[] = [];
  statuses = new Map<number, number>();
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  readonly #clients: Promise<void>[];
  #ended = false;

  constructor(t: TestContext, site: Site) {
    this.#clients = Array.from({ length: 4 }, (_, at) => this.#client(site, at));
    t.after(() => this.end());
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  async #client(site: Site, at: number): Promise<void> {
    for (let number = at; !this.#ended; number += 7) {
      const headers = { 'x-forwarded-for': address(number % VISITORS) };
      try {
        const { status } = await get(site, `/page${number % 3}`, headers, this.#agent);
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }

  /** Nothing but answers of the app came. */
  assertWhole(): void {
    assert.deepEqual(this.failures, []);
    assert.deepEqual([...this.statuses.keys()], [200]);
  }
}

const agent = new http.Agent({ keepAlive: true });
test.after(() => agent.destroy());

/** The version that each visitor gets, in the order of their numbers. */
async function versionsOf(site: Site, target = '/'): Promise<string[]> {
  const versions: string[] = [];
  for (let visitor = 0; visitor < VISITORS; visitor += 1) {
    versions.push((await get(site, target, { 'x-forwarded-for': address(visitor) }, agent)).version);
  }
  return versions;
}

const count = (versions: string[], version: string): number => versions.filter((one) => one === version).length;

void test('a share of addresses tries the version, the same ones each time, and all get it by hand', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '10m']);
  await site.until('running');
  const first = await versionsOf(site);
  assert.deepEqual(first, await versionsOf(site));
  assert.ok(count(first, 'two') > 20 && count(first, 'two') < 80, `${count(first, 'two')} of ${VISITORS}`);
  assert.equal(count(first, 'one') + count(first, 'two'), VISITORS);
  const status = await site.sluice.status();
  assert.deepEqual([status.generation, status.workers.length], [1, 3]);
  const shown = await site.sluice.cli(['canary']);
  assert.match(shown.stdout, /^generation {4}2 \(25 % of visitors\)\nstate {9}running\n/);
  assert.match(shown.stdout, /\nCPU time +(unknown|equal|better) /);
  assert.equal((await site.sluice.cli(['canary', 'promote'])).code, 0);
  const { code, stdout } = await reload;
  assert.equal(code, 0);
  assert.match(stdout, /25 % of visitors try generation 2; .*\n.*\ngeneration 2 is promoted: by hand\n/);
  assert.match(stdout, /done in [\d.]+ s\n$/);
  await allOf(site.sluice, 2, 2);
  assert.equal(count(await versionsOf(site), 'two'), VISITORS);
  const late = await site.sluice.cli(['canary', 'back']);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /no version is on trial/);
});

void test('an equal version is promoted when its time is over, and no request fails', async (t) => {
  const site = await Site.start(t);
  const load = new Visitors(t, site);
  site.next({ version: 'two' });
  const { code, stdout, stderr } = await site.sluice.cli(['reload', '--canary', '30%', '--for', '6s', '--min-requests', '50']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /generation 2 is promoted: it is not worse/);
  await allOf(site.sluice, 2, 2);
  await load.end();
  load.assertWhole();
  const events = site.sluice.logs.filter(({ event }) => event === 'reload_compared');
  assert.deepEqual(events.map(({ state }) => state), ['running', 'promoted']);
});

void test('a version that takes twice the CPU time is rolled back, with a number that says how sure that is', async (t) => {
  const site = await Site.start(t, { version: { version: 'one', units: 4 } });
  const load = new Visitors(t, site);
  site.next({ version: 'two', units: 8 });
  const { code, stderr } = await site.sluice.cli(['reload', '--canary', '30%', '--for', '10m']);
  assert.equal(code, 1);
  assert.match(stderr, /generation 2 is given up: it was rolled back: (CPU|service) time \+\d+\.\d % \(.*\), 99\.\d+ % sure\. The version before stays\./);
  await load.end();
  load.assertWhole();
  const now = await allOf(site.sluice, 1, 2);
  assert.deepEqual([now.reload?.state, now.reload?.trial?.state], ['abandoned', 'back']);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});

void test('a version that fails one of five requests is rolled back', async (t) => {
  const site = await Site.start(t);
  const load = new Visitors(t, site);
  site.next({ version: 'two', fails_every: 5 });
  const { code, stderr } = await site.sluice.cli(['reload', '--canary', '20%', '--for', '10m']);
  assert.equal(code, 1);
  assert.match(stderr, /it was rolled back: failures \+\d+\.\d percentage points/);
  await load.end();
  assert.deepEqual(load.failures, []);
  await allOf(site.sluice, 1, 2);
});

void test('a version that dies again and again is given up, and its visitors get the present one', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two', dies_after: 20 });
  const reload = site.sluice.cli(['reload', '--canary', '40%', '--for', '10m']);
  await site.until('running');
  const load = new Visitors(t, site);
  const { code, stderr } = await reload;
  assert.equal(code, 1);
  assert.match(stderr, /generation 2 is given up: (worker \d+ exited|it was rolled back: (worker deaths|failures))/);
  await load.end();
  assert.deepEqual(load.failures, []);
  await allOf(site.sluice, 1, 2);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});

void test('visitors go to the present version while the worker on trial is killed, and back to the same one', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '10m', '--promote', 'ask']);
  await site.until('running');
  const first = await versionsOf(site);
  const tried = (await site.sluice.status()).workers.find(({ generation }) => generation === 2);
  assert.ok(tried?.pid);
  process.kill(tried.pid, 'SIGKILL');
  await gone([tried.pid]);
  for (const version of await versionsOf(site)) assert.match(version, /^(one|two)$/);
  await eventually(async () => (await site.sluice.status()).workers.some(({ generation, state }) => generation === 2 && state === 'ready'), {
    deadlineMs: 20_000,
    what: 'another worker on trial',
  });
  await eventually(async () => count(await versionsOf(site), 'two') > 0, { deadlineMs: 20_000, what: 'visitors on trial' });
  assert.deepEqual(await versionsOf(site), first);
  assert.equal((await site.sluice.cli(['canary', 'back'])).code, 0);
  const { code, stderr } = await reload;
  assert.equal(code, 1);
  assert.match(stderr, /it was rolled back: by hand/);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});

void test('a trial that asks is held when its time is over', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '1s', '--promote', 'ask']);
  const trial = await site.until('held');
  assert.equal(trial.reason, 'the time is over');
  const status = await site.sluice.cli(['status']);
  assert.match(status.stdout, /reload +generation 2 running, .*; trial held, the time is over, \d+ of \d+ requests\n/);
  await site.sluice.cli(['canary', 'promote']);
  assert.equal((await reload).code, 0);
});

void test('another reload ends a trial, for everybody', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const first = site.sluice.cli(['reload', '--canary', '50%', '--for', '10m']);
  await site.until('running');
  const load = new Visitors(t, site);
  site.next({ version: 'three' });
  assert.equal((await site.sluice.cli(['reload'])).code, 0);
  const { code, stdout } = await first;
  assert.equal(code, 0);
  assert.match(stdout, /generation 2 is given up: a later reload was asked for/);
  await allOf(site.sluice, 3, 2);
  assert.equal(count(await versionsOf(site), 'three'), VISITORS);
  await load.end();
  load.assertWhole();
});

void test('the first batch serves anybody with --hold, and gives its place back', async (t) => {
  const site = await Site.start(t);
  const load = new Visitors(t, site);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--hold', '1', '--for', '10m']);
  await site.until('running');
  const now = await site.sluice.status();
  assert.deepEqual(now.workers.map(({ generation }) => generation).sort(), [1, 2]);
  await eventually(async () => ((await site.trial())?.requests ?? 0) > 50, { what: 'requests of the version' });
  await site.sluice.cli(['canary', 'back']);
  assert.equal((await reload).code, 1);
  await allOf(site.sluice, 1, 2);
  await load.end();
  load.assertWhole();
});

void test('cached pages of the two versions stay apart', async (t) => {
  const site = await Site.start(t, { config: `${byAddress}[cache]\nenabled = true\n` });
  const renders = (): string[] => fs.readFileSync(`${site.file}.renders`, 'utf8').split('\n').slice(0, -1);
  assert.equal(count(await versionsOf(site, '/cached'), 'one'), VISITORS);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '10m']);
  await site.until('running');
  const pages = await versionsOf(site, '/cached');
  assert.deepEqual(pages, await versionsOf(site));
  assert.ok(count(pages, 'two') > 20, String(count(pages, 'two')));
  assert.deepEqual(renders(), ['one', 'two'], 'one render of each version');
  await site.sluice.cli(['canary', 'back']);
  assert.equal((await reload).code, 1);
  assert.equal(count(await versionsOf(site, '/cached'), 'one'), VISITORS);
  assert.deepEqual(renders(), ['one', 'two']);
});

void test('a session stays with its version, and a share of new visitors tries the other one by cookie', async (t) => {
  const site = await Site.start(t, { config: '[sticky]\nby = "cookie"\n' });
  const visit = (cookie: string): Promise<Got> => get(site, '/', cookie === '' ? {} : { cookie }, agent);
  const old = await Promise.all(Array.from({ length: 20 }, () => visit('')));
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '40%', '--for', '10m']);
  await site.until('running');
  for (const { cookie } of old) assert.equal((await visit(cookie)).version, 'one');
  const visitors: Got[] = [];
  for (let at = 0; at < 100; at += 1) visitors.push(await visit(''));
  const tried = visitors.filter(({ version }) => version === 'two').length;
  assert.ok(tried > 15 && tried < 70, `${tried} of 100`);
  for (const { cookie, version } of visitors) assert.equal((await visit(cookie)).version, version);
  await site.sluice.cli(['canary', 'promote']);
  assert.equal((await reload).code, 0);
  // Sessions of the version live on in the worker that has taken a place over.
  for (const { cookie } of visitors.filter(({ version }) => version === 'two')) {
    const again = await visit(cookie);
    assert.deepEqual([again.version, again.cookie], ['two', '']);
  }
});

void test('a stop during a trial finishes what was accepted', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '10m']);
  await site.until('running');
  assert.equal((await site.sluice.cli(['stop'])).code, 0);
  const { code, stderr } = await reload;
  assert.equal(code, 1);
  assert.match(stderr, /the gateway leaves|gateway.*gone/i);
});
