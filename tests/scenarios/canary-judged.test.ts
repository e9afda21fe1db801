// A version on trial is promoted or rolled back by what it does, and nobody loses a request by that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Site, VISITORS, Visitors, agent, count, versionsOf } from './trials.ts';
import { eventually } from '../support/eventually.ts';
import { allOf } from './versions.ts';

test.after(() => agent.destroy());

void test('an equal version is promoted when its time is over, or held while too little is known, and no request fails', async (t) => {
  const site = await Site.start(t);
  const load = new Visitors(t, site);
  site.next({ version: 'two' });
  const args = ['reload', '--canary', '30%', '--for', '15s', '--min-requests', '50'];
  let isOver = false;
  const reload = site.sluice.cli(args).finally(() => (isOver = true));
  // A busy machine may serve too few requests for a verdict. Then nobody but a person promotes.
  const held = await eventually(
    async () => {
      if (isOver) return { reason: null };
      const trial = await site.trial();
      return trial?.state === 'held' ? trial : undefined;
    },
    { deadlineMs: 90_000, what: 'an end of the trial, or a person who is asked' },
  );
  if (held.reason !== null) {
    assert.match(held.reason, /^the time has passed, and /);
    assert.equal((await site.sluice.cli(['canary', 'promote'])).code, 0);
  }
  const { code, stdout, stderr } = await reload;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /generation 2 is promoted/);
  await allOf(site.sluice, 2, 2);
  await load.end();
  load.assertWhole();
  const events = site.sluice.logs.filter(({ event }) => event === 'reload_compared');
  const states = events.map(({ state }) => state);
  assert.deepEqual([states[0], states.at(-1)], ['running', 'promoted']);
});

void test('a version that takes three times the CPU time is rolled back, with a number that says how sure that is', async (t) => {
  const site = await Site.start(t, { version: { version: 'one', units: 2 } });
  const load = new Visitors(t, site);
  site.next({ version: 'two', units: 6 });
  const { code, stderr } = await site.sluice.cli(['reload', '--canary', '30%', '--for', '10m']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /generation 2 is abandoned: it was rolled back: (CPU|service) time \+\d+\.\d % \(.*\), 99\.\d+ % sure\. The previous version continues\./,
  );
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
  assert.match(
    stderr,
    /generation 2 is abandoned: (worker \d+ exited|it was rolled back: (worker deaths|failures))/,
  );
  await load.end();
  assert.deepEqual(load.failures, []);
  await allOf(site.sluice, 1, 2);
  assert.equal(count(await versionsOf(site), 'one'), VISITORS);
});
