// What a cleaner of temporary directories, or a person, deletes or kills beside a gateway that serves: it is made again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { app, runSluice, type Sluice } from '../support/sluice.ts';
import { allReady, ask, gone, nothingLeftOf, pidOf, running } from './scenario.ts';

const noProc = fs.existsSync('/proc/self/status') ? false : 'there is no /proc here';

const start = (t: TestContext): Promise<Sluice> => running(t, { entry: app('spin.js'), workers: 2 });

async function noteOf(sluice: Sluice, mark: string): Promise<string> {
  const [note] = await eventually(
    () => {
      const found = sluice.logs.map((line) => String(line['text'])).filter((text) => text.includes(mark));
      return found.length > 0 ? found : undefined;
    },
    { what: `a note with ${mark}`, deadlineMs: 20_000 },
  );
  return note ?? assert.fail();
}

async function secondStart(sluice: Sluice): Promise<{ code: number | null; stderr: string }> {
  const port = String(await freePort());
  const flags = ['--port', port, '--admin', 'off', '--run-dir', sluice.runDir];
  return runSluice(['start', app('exits-at-start.js'), ...flags]);
}

void test('a run directory that is deleted is made again, and nothing is refused', async (t) => {
  const sluice = await start(t);
  const before = (await allReady(sluice, 2)).workers.map(pidOf);
  let failed = 0;
  let asked = 0;
  let stopped = false;
  const load = (async () => {
    while (!stopped) {
      asked += 1;
      const { status } = await ask(sluice, '/spin?ms=2');
      if (status !== 200) failed += 1;
    }
  })();
  fs.rmSync(sluice.runDir, { recursive: true, force: true });
  const note = await noteOf(sluice, 'created it again');
  for (const name of ['itself', 'lock', 'control.sock', 'sluice.pid', 'gateway.sock']) {
    assert.ok(note.includes(name), `${name}: ${note}`);
  }
  assert.equal(fs.statSync(sluice.runDir).mode & 0o777, 0o700);
  // Workers whose sockets have no name any more are replaced by others that can be reached.
  await eventually(
    async () => {
      const { workers } = await sluice.status();
      const pids = workers.filter(({ state }) => ['ready', 'busy'].includes(state)).map(pidOf);
      return pids.length >= 2 && pids.every((pid) => !before.includes(pid));
    },
    { what: 'workers that can be reached', deadlineMs: 40_000 },
  );
  stopped = true;
  await load;
  assert.equal(failed, 0, `of ${asked}`);
  assert.equal((await secondStart(sluice)).code, 1);
});

void test('a worker whose socket is deleted is replaced by one that can be reached', async (t) => {
  const sluice = await start(t);
  await allReady(sluice, 2);
  const sockets = path.join(sluice.runDir, 'w1');
  const own = fs.readdirSync(sockets).filter((name) => /^\d+\.sock$/.test(name));
  assert.equal(own.length, 2);
  for (const name of own) fs.rmSync(path.join(sockets, name));
  await eventually(
    () => {
      const told = sluice.logs.filter(
        (line) => line['event'] === 'worker_recycled' && line['reason'] === 'socket',
      );
      return told.length === 2;
    },
    { what: 'two workers that are recycled', deadlineMs: 40_000 },
  );
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
});

void test('a lock file that is deleted lets nobody in', { skip: noProc }, async (t) => {
  const sluice = await start(t);
  const pid = await sluice.gatewayPid();
  for (let round = 0; round < 3; round++) {
    fs.rmSync(path.join(sluice.runDir, 'lock'));
    // At once, before the gateway has noticed; and what it left behind must not lock out the one that serves.
    const second = await secondStart(sluice);
    assert.match(second.stderr, /SLU-RUN-DIR-BUSY/);
  }
  await noteOf(sluice, 'had lost lock');
  assert.match((await secondStart(sluice)).stderr, /SLU-RUN-DIR-BUSY/);
  assert.equal(await sluice.gatewayPid(), pid);
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
});

/** The guardian: a child of the gateway that runs the same program in another role. */
function guardianOf(gateway: number): number | undefined {
  const isGuardian = (pid: string) => {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      return state !== 'Z' && Number(parent) === gateway && words[1] === 'guardian';
    } catch {
      return false;
    }
  };
  const found = fs.readdirSync('/proc').find((name) => /^\d+$/.test(name) && isGuardian(name));
  return found === undefined ? undefined : Number(found);
}

void test(
  'a guardian that is killed is replaced at once, and the next one does its work',
  { skip: noProc },
  async (t) => {
    const sluice = await start(t);
    const pids = (await allReady(sluice, 2)).workers.map(pidOf);
    const gateway = await sluice.gatewayPid();
    const first = guardianOf(gateway) ?? assert.fail('there is a guardian');
    process.kill(first, 'SIGKILL');
    const second = await eventually(
      () => {
        const found = guardianOf(gateway);
        return found === first ? undefined : found;
      },
      { what: 'another guardian' },
    );
    const note = await noteOf(sluice, 'the guardian');
    assert.ok(note.includes(String(first)) && note.includes(String(second)), note);
    await sluice.kill9();
    await nothingLeftOf(sluice);
    await gone(pids);
  },
);
