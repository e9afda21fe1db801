// A version that some visitors try first: who gets it, and how a person or an event ends the trial.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { gone } from './scenario.ts';
import { type Got, Site, VISITORS, Visitors, agent, byAddress, count, get, versionsOf } from './trials.ts';
import { allOf } from './versions.ts';

test.after(() => agent.destroy());

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
  const promoted = await site.sluice.cli(['canary', 'promote']);
  assert.equal(promoted.code, 0);
  assert.match(promoted.stdout, /\nstate {9}promoted: manually\n/);
  const { code, stdout } = await reload;
  assert.equal(code, 0);
  assert.match(stdout, /25 % of visitors try generation 2; .*\n.*\ngeneration 2 is promoted: manually\n/);
  assert.match(stdout, /done in [\d.]+ s\n$/);
  await allOf(site.sluice, 2, 2);
  assert.equal(count(await versionsOf(site), 'two'), VISITORS);
  const late = await site.sluice.cli(['canary', 'back']);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /no version is on trial/);
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
  await eventually(
    async () =>
      (await site.sluice.status()).workers.some(
        ({ generation, state }) => generation === 2 && state === 'ready',
      ),
    {
      deadlineMs: 20_000,
      what: 'another worker on trial',
    },
  );
  await eventually(async () => count(await versionsOf(site), 'two') > 0, {
    deadlineMs: 20_000,
    what: 'visitors on trial',
  });
  assert.deepEqual(await versionsOf(site), first);
  assert.equal((await site.sluice.cli(['canary', 'back'])).code, 0);
  const { code, stderr } = await reload;
  assert.equal(code, 1);
  assert.match(stderr, /it was rolled back: manually/);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});

void test('a trial that asks is held when its time is over', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--canary', '25%', '--for', '1s', '--promote', 'ask']);
  const trial = await site.until('held');
  assert.equal(trial.reason, 'the time has passed');
  const { stdout } = await site.sluice.cli(['status']);
  const words = stdout.replaceAll(/\s+/g, ' ');
  assert.match(
    words,
    / reload generation 2 running, requested .*; trial held, the time has passed, \d+ of \d+ requests /,
  );
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
  assert.match(stdout, /generation 2 is abandoned: a later reload replaced it/);
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
  assert.deepEqual(new Set(now.workers.map(({ generation }) => generation)), new Set([1, 2]));
  await eventually(async () => ((await site.trial())?.requests ?? 0) > 50, {
    what: 'requests of the version',
  });
  await load.end();
  load.assertWhole();
  const present = (await site.sluice.status()).workers.find(
    ({ generation, state }) => generation === 1 && state === 'ready',
  );
  assert.ok(present?.pid);
  process.kill(present.pid, 'SIGKILL');
  await gone([present.pid]);
  await eventually(
    async () => {
      const { workers } = await site.sluice.status();
      return workers.some(({ generation, state }) => generation === 1 && state === 'ready');
    },
    { deadlineMs: 20_000, what: 'another worker of the present version' },
  );
  await site.sluice.cli(['canary', 'back']);
  assert.equal((await reload).code, 1);
  await allOf(site.sluice, 1, 2);
  assert.equal((await site.sluice.status()).generation, 1);
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
  const site = await Site.start(t, { config: `${byAddress}[sticky]\nby = "cookie"\n` });
  let visitor = 0;
  const visit = (cookie: string): Promise<Got> => {
    const from = { 'x-forwarded-for': `10.1.0.${(visitor += 1) & 255}` };
    return get(site, '/', cookie === '' ? from : { ...from, cookie }, agent);
  };
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
  assert.match(stderr, /the gateway is stopping/);
});

void test('pages of both versions are compared word by word, and a difference is told and decides nothing', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two', heading: 'Skirts' });
  const options = ['--canary', '25%', '--for', '10m', '--html', '100%'];
  const reload = site.sluice.cli(['reload', ...options]);
  await site.until('running');
  const ask = async (target: string, more = {}): Promise<void> => {
    for (let visitor = 0; visitor < 6; visitor += 1) {
      const headers = { 'x-forwarded-for': `10.2.0.${visitor}`, ...more };
      assert.equal((await get(site, target, headers, agent)).status, 200);
    }
  };
  const told = await eventually(
    async () => {
      await ask('/html/same');
      await ask('/html/changed?page=1');
      // Pages of a visitor, and answers that are no pages, are left alone.
      await ask('/html/own', { cookie: 'user=7' });
      await ask('/html/own', { authorization: 'Basic x' });
      await ask('/text');
      await ask('/html/changed?token=SECRET1');
      await ask('/html/changed', { 'x-api-key': 'SECRET2' });
      await ask('/html/private');
      await ask('/html/cookie');
      const html = (await site.trial())?.html;
      return (html?.compared ?? 0) >= 6 && html?.classes.length === 2 ? html : undefined;
    },
    { deadlineMs: 40_000, what: 'six compared pages of two classes' },
  );
  const [changed, same] = told.classes;
  assert.ok(changed !== undefined && same !== undefined);
  assert.deepEqual([changed.class, same.class], ['GET /html/changed', 'GET /html/same']);
  assert.deepEqual([changed.differing, changed.path], [changed.compared, '/html/changed?page=1']);
  assert.equal(changed.trial, '<h1>Skirts</h1>');
  assert.deepEqual([same.differing, told.unclear], [0, 0]);
  const shown = await site.sluice.cli(['canary']);
  assert.match(shown.stdout, /\nHTML: \d+ of \d+ pages differ \(\d+ %\)\nGET \/html\/changed: /);
  assert.match(shown.stdout, /\n {2}present {2}<h1>Shirts<\/h1>\n {2}trial {4}<h1>Skirts<\/h1>\n/);
  assert.equal((await site.trial())?.state, 'running');
  assert.doesNotMatch((await site.sluice.cli(['canary', '--json'])).stdout, /SECRET|private|cookie/);
  // Renders for the comparison say so, have nothing of the visitor, and are in no log.
  const renders = fs.readFileSync(`${site.file}.html`, 'utf8').split('\n').slice(0, -1);
  const shadows = renders.map((line) => JSON.parse(line) as Record<string, string>);
  const own = shadows.filter((headers) => headers['sluice-warm-up'] === 'shadow');
  assert.ok(own.length >= 18, `${own.length} renders for the comparison`);
  assert.ok(own.every(({ cookie, authorization }) => cookie === undefined && authorization === undefined));
  const repeated = new Set(own.map(({ url }) => url));
  assert.deepEqual(
    [...repeated].map(String).toSorted((one, other) => one.localeCompare(other)),
    ['/html/changed?page=1', '/html/same'],
  );
  assert.equal((await site.sluice.cli(['canary', 'promote'])).code, 0);
  assert.equal((await reload).code, 0);
});
