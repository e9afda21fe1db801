// What else may happen during a trial: an upgrade, other reloads, deploys and changed settings.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, gone } from './scenario.ts';
import { Site, VISITORS, Visitors, agent, byAddress, count, versionsOf } from './trials.ts';
import { settled, upgraded } from './upgrades.ts';
import { allOf } from './versions.ts';

test.after(() => agent.destroy());

const canary = ['reload', '--canary', '25%', '--for', '10m'];

void test('an upgrade during a trial puts the version on disk in force for everybody, and the command says so', async (t) => {
  const site = await Site.start(t);
  const load = new Visitors(t, site);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(canary);
  await site.until('running');
  const pid = await upgraded(site.sluice);
  const { code, stdout, stderr } = await reload;
  const said = `an upgrade has taken over: process ${pid} serves now, which has read the new version at its start, so it is in force`;
  assert.equal(code, 0, stderr);
  assert.ok(stdout.includes(said), stdout);
  await settled(site.sluice);
  assert.equal(count(await versionsOf(site), 'two'), VISITORS);
  // The gateway after it knows of no trial.
  assert.equal(await site.trial(), null);
  const late = await site.sluice.cli(['canary', 'promote']);
  assert.deepEqual([late.code, /no version is on trial/.test(late.stderr)], [1, true]);
  await load.end();
  load.assertWhole();
});

void test('another trial during a trial takes its place, and its command follows the later one', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const first = site.sluice.cli(canary);
  await site.until('running');
  site.next({ version: 'three' });
  const second = site.sluice.cli(['reload', '--canary', '40%', '--for', '10m']);
  await eventually(
    async () => {
      const trial = await site.trial();
      return trial?.generation === 3 && trial.state === 'running';
    },
    { deadlineMs: 30_000, what: 'the later trial' },
  );
  const versions = await versionsOf(site);
  assert.equal(count(versions, 'two'), 0);
  assert.ok(count(versions, 'three') > 40, String(count(versions, 'three')));
  assert.equal((await site.sluice.cli(['canary', 'back'])).code, 0);
  for (const { code, stderr } of await Promise.all([first, second])) {
    assert.equal(code, 1);
    assert.match(stderr, /generation 3 is abandoned: it was rolled back: manually/);
  }
  await allOf(site.sluice, 1, 2);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});

void test('a reload that is refused leaves the trial as it is, and settings on disk wait for the next reload', async (t) => {
  const site = await Site.start(t, { config: `${byAddress}[edge]\nping_path = "/first"\n` });
  const file = path.join(site.sluice.dir, 'sluice.toml');
  const settings = (ping: string): void =>
    fs.writeFileSync(file, `${byAddress}[edge]\nping_path = "${ping}"\n`);
  const pings = async (target: string): Promise<boolean> =>
    (await ask(site.sluice, target)).body.toString() === 'pong\n';
  assert.ok(await pings('/first'));
  site.next({ version: 'two' });
  settings('/second');
  const reload = site.sluice.cli(canary);
  await site.until('running');
  // Settings of the version are in force with it, and not before.
  assert.deepEqual([await pings('/first'), await pings('/second')], [true, false]);
  const first = await versionsOf(site);

  fs.writeFileSync(file, 'nonsense');
  const refused = await site.sluice.cli(['reload']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /no reload: .*sluice\.toml/s);
  assert.equal((await site.trial())?.state, 'running');
  assert.deepEqual(await versionsOf(site), first);

  // A promotion takes the settings that the version was tried with, whatever is on disk by now.
  settings('/third');
  assert.equal((await site.sluice.cli(['canary', 'promote'])).code, 0);
  assert.equal((await reload).code, 0);
  assert.deepEqual(
    [await pings('/first'), await pings('/second'), await pings('/third')],
    [false, true, false],
  );
  assert.equal((await site.sluice.cli(['reload'])).code, 0);
  assert.ok(await pings('/third'));
});

void test('a deploy during a hold reaches workers that start meanwhile, and nobody else until a reload', async (t) => {
  const site = await Site.start(t, { workers: 3 });
  site.next({ version: 'two' });
  const reload = site.sluice.cli(['reload', '--hold', '1', '--for', '10m']);
  await site.until('running');
  assert.equal((await site.sluice.cli(['canary', 'hold'])).code, 0);
  assert.equal((await site.until('held')).reason, 'held manually');
  // The files of both versions are one folder here, so a worker that is replaced now reads what is there.
  site.next({ version: 'three' });
  const before = await versionsOf(site);
  assert.equal(count(before, 'three'), 0);
  const present = (await site.sluice.status()).workers.find(
    ({ generation, state }) => generation === 1 && state === 'ready',
  );
  assert.ok(present?.pid);
  process.kill(present.pid, 'SIGKILL');
  await gone([present.pid]);
  await eventually(
    async () => {
      const { workers } = await site.sluice.status();
      return workers.filter(({ state }) => state === 'ready').length === 3;
    },
    { deadlineMs: 20_000, what: 'another worker of the present generation' },
  );
  const trial = await site.trial();
  assert.deepEqual([trial?.generation, trial?.state], [2, 'held'], 'the deploy ends no trial');
  assert.equal((await site.sluice.cli(['reload'])).code, 0);
  assert.match((await reload).stdout, /generation 2 is abandoned: a later reload replaced it/);
  await allOf(site.sluice, 3, 3);
  assert.equal(count(await versionsOf(site), 'three'), VISITORS);
});

void test('a pool that is scaled during a trial keeps it', async (t) => {
  const site = await Site.start(t);
  site.next({ version: 'two' });
  const reload = site.sluice.cli(canary);
  await site.until('running');
  const before = await versionsOf(site);
  assert.equal((await site.sluice.cli(['scale', '3'])).code, 0);
  const { workers } = await site.sluice.status();
  const generations = workers.filter(({ state }) => state === 'ready').map(({ generation }) => generation);
  assert.deepEqual(
    generations.toSorted((one, other) => one - other),
    [1, 1, 1, 2],
  );
  assert.equal((await site.trial())?.state, 'running');
  assert.deepEqual(await versionsOf(site), before);
  assert.equal((await site.sluice.cli(['canary', 'back'])).code, 0);
  assert.equal((await reload).code, 1);
  await allOf(site.sluice, 1, 3);
});
