// Another number of workers under load: further ones boot one after the other at a lower priority, surplus ones leave one by one,
// nobody's request is lost, and the command says how far it is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { allReady, ask, Hold, ownApp, running, sent, statusWhen } from './scenario.ts';
import { Versions } from './versions.ts';

const CPUS = os.availableParallelism();

/** Requests one after the other, until the end; each has to be answered. */
function load(sluice: Sluice, target: string): { end(): Promise<number> } {
  let isOver = false;
  const asked = (async () => {
    let count = 0;
    for (; !isOver; count++) assert.equal((await ask(sluice, target, { deadlineMs: 60_000 })).status, 200);
    return count;
  })();
  return {
    end: async () => {
      isOver = true;
      return asked;
    },
  };
}

/** Of workers that were started since `before`, a number of lines, the most that booted at once. */
function bootsAtOnce(sluice: Sluice, before: number): number {
  const booting = new Set<unknown>();
  let most = 0;
  for (const { event, worker } of sluice.logs.slice(before)) {
    if (event === 'worker_started') booting.add(worker);
    if (event === 'worker_ready') booting.delete(worker);
    most = Math.max(most, booting.size);
  }
  return most;
}

function marksOf(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-scale-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

void test('workers that are added under load boot one after the other, and the command says how far it is', async (t) => {
  const versions = new Versions(t, { version: 'one', listens_after_ms: 700 });
  // No stand-ins, which are further boots.
  const env = { ...versions.env, ...bounds({ overdue_after_ms: 0 }) };
  const sluice = await running(t, { entry: versions.app, workers: CPUS, env });
  await allReady(sluice, CPUS);
  const before = sluice.logs.length;
  const requests = load(sluice, '/');
  await statusWhen(sluice, ({ requests }) => requests.answered_total > 20, 'a load');
  const wanted = CPUS + 3;
  const { code, stdout, stderr } = await sluice.cli(['scale', String(wanted)]);
  assert.ok((await requests.end()) > 20);
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    `workers wanted: ${wanted}, were ${CPUS}`,
    ...[0, 1, 2, 3].map((more) => `${CPUS + more} of ${wanted} ready`),
  ]);
  assert.equal(bootsAtOnce(sluice, before), 1);
});

void test('without load they boot together', async (t) => {
  const versions = new Versions(t, { version: 'one', listens_after_ms: 700 });
  const sluice = await running(t, { entry: versions.app, workers: 1, env: versions.env });
  await allReady(sluice, 1);
  const before = sluice.logs.length;
  assert.equal((await sluice.cli(['scale', '4'])).code, 0);
  await eventually(() => bootsAtOnce(sluice, before) === 3, { what: 'three boots at once' });
});

const mayRaise = process.platform === 'linux' && process.getuid?.() === 0;

void test(
  'a worker that is added under load has a lower priority until it listens',
  { skip: !mayRaise && 'priorities are raised again by root, and read in /proc' },
  async (t) => {
    const marks = marksOf(t);
    const sluice = await running(t, { entry: ownApp('slow-boot.js'), workers: 1, env: { MARKS: marks } });
    await allReady(sluice, 1);
    const [first] = (await sluice.status()).workers;
    const requests = load(sluice, '/short');
    await statusWhen(sluice, ({ requests }) => requests.answered_total > 5, 'a load');
    assert.equal((await sluice.cli(['scale', '2', '--no-wait'])).code, 0);
    const added = await eventually(
      () => sluice.logs.find(({ event, worker }) => event === 'worker_started' && worker !== first?.id),
      { what: 'a second worker' },
    );
    const usual = niceOf(Number(first?.pid));
    const pid = Number(added['pid']);
    await eventually(() => fs.existsSync(path.join(marks, `begin-${Number(added['worker'])}-${pid}`)), {
      what: 'its boot',
    });
    assert.equal(niceOf(pid), niceOf(await sluice.gatewayPid()) + 10);
    await statusWhen(
      sluice,
      ({ workers }) => workers.every(({ state }) => state !== 'starting'),
      'its end',
      60_000,
    );
    await eventually(() => niceOf(pid) === usual, { what: 'the usual priority' });
    await requests.end();
  },
);

/** Nice value of a process' main thread: field 19 of proc(5). */
function niceOf(pid: number): number {
  const fields = (fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ');
  return Number(fields[16]);
}

void test('surplus workers leave one after the other, and those whose turn has not come still serve', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 4, env: hold.env });
  await allReady(sluice, 4);
  const clients = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    clients.push(await sent(sluice, `/hold/${name}`));
    await hold.began(`/hold/${name}`);
  }
  assert.equal((await sluice.cli(['scale', '1', '--no-wait'])).stdout, 'workers wanted: 1, were 4\n');
  const { workers } = await sluice.status();
  assert.deepEqual(workers.map(({ state }) => state).sort(), ['busy', 'busy', 'busy', 'leaving']);
  for (const name of ['a', 'b', 'c', 'd']) hold.release(name);
  for (const client of clients) assert.equal((await client.response()).status, 200);
  await statusWhen(sluice, ({ workers }) => workers.length === 1, 'one worker');
  const left = () =>
    sluice.logs.filter(({ event, expected }) => event === 'worker_exited' && expected === true);
  await eventually(() => left().length === 3, { what: 'three ends that were asked for' });
});
