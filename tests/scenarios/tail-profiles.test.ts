// Requests that take unusually long are followed by profiles of their like, which hold one request and nothing else.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Sluice } from '../support/sluice.ts';
import { bundled, isIn } from './planted.ts';
import { ask, end, running, STRICT } from './scenario.ts';

interface Tail {
  id: number;
  class: string;
  target: string;
  cpu_ms: number;
  usual_ms: number;
  service_ms: number;
  file: string;
}

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-tail-'));
after(() => fs.rmSync(dir, { recursive: true, force: true }));

async function tailsOf(sluice: Sluice): Promise<Tail[]> {
  const { code, stdout, stderr } = await sluice.cli(['profile', '--tail', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Tail[];
}

/** Asks for slow requests, slower ones than those before, until one more than `before` is listed. */
async function oneMore(sluice: Sluice, before: number): Promise<Tail[]> {
  for (let count = 0; count < 150; count += 1) await ask(sluice, '/regex?size=12');
  return eventually(
    async () => {
      assert.equal((await ask(sluice, `/regex?size=${22 + before}`)).status, 200);
      const tails = await tailsOf(sluice);
      return tails.length > before ? tails : undefined;
    },
    { deadlineMs: 60_000, what: 'a profile of a slow request' },
  );
}

const filesOf = (tails: readonly Tail[]): string[] => tails.map(({ file }) => path.basename(file)).toSorted();

void test('profiles stay apart where another gateway goes on, and none is left that no list names', async (t) => {
  // The same directory, by a path that tools write in several ways.
  const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-t-'));
  t.after(() => fs.rmSync(parent, { recursive: true, force: true }));
  fs.mkdirSync(path.join(parent, 'x'));
  const options = {
    entry: await bundled(dir),
    workers: 1,
    config: '[profile]\ntail = "on"\n',
    runDir: `${parent}/x/../run`,
  };
  const first = await running(t, options);
  const [kept] = await oneMore(first, 0);
  assert.ok(kept !== undefined);
  const before = fs.readFileSync(kept.file);
  await end(first);
  const stray = path.join(path.dirname(kept.file), '4711.cpuprofile');
  fs.writeFileSync(stray, '{}');

  const second = await running(t, options);
  const restarted = await oneMore(second, 1);
  assert.equal(new Set(restarted.map(({ id }) => id)).size, 2);
  assert.deepEqual(fs.readFileSync(kept.file), before, 'the first is the first one still');
  assert.equal(fs.existsSync(stray), false);

  const upgraded = await second.cli(['upgrade']);
  assert.equal(upgraded.code, 0, upgraded.stderr);
  const tails = await oneMore(second, 2);
  assert.equal(new Set(tails.map(({ id }) => id)).size, 3);
  assert.deepEqual(fs.readFileSync(kept.file), before);
  const present = fs.readdirSync(path.dirname(kept.file)).filter((file) => file.endsWith('.cpuprofile'));
  assert.deepEqual(present.toSorted(), filesOf(tails));
  await end(second);
});

for (const [mode, flags] of [
  ['strict mode', STRICT],
  ['while-waiting', []],
] as const) {
  void test(`a regular expression that grew is named by the profile of one request, in ${mode}`, async (t) => {
    const config = '[profile]\ntail = "on"\n';
    const sluice = await running(t, { entry: await bundled(dir), workers: 2, config, flags: [...flags] });
    // What is usual takes next to nothing.
    for (let count = 0; count < 150; count += 1) await ask(sluice, '/regex?size=12');
    assert.deepEqual(await tailsOf(sluice), []);
    // Others are there meanwhile.
    let isOver = false;
    const load = (async () => {
      while (!isOver) assert.equal((await ask(sluice, '/?ms=3')).status, 200);
    })();
    const [tail] = await eventually(
      async () => {
        assert.equal((await ask(sluice, '/regex?size=22')).status, 200);
        const tails = await tailsOf(sluice);
        return tails.length > 0 ? tails : undefined;
      },
      { deadlineMs: 60_000, what: 'a profile of a slow request' },
    );
    isOver = true;
    await load;
    assert.ok(tail !== undefined);
    assert.match(tail.class, /\/regex$/);
    assert.equal(tail.target, 'GET /regex?size=22');
    assert.ok(tail.cpu_ms > tail.usual_ms, JSON.stringify(tail));
    assert.ok(tail.service_ms > 0);
    assert.equal(fs.statSync(tail.file).mode & 0o777, 0o600);
    assert.deepEqual(
      fs.readdirSync(path.dirname(tail.file)).filter((file) => file.endsWith('.part')),
      [],
    );
    const shown = await sluice.cli(['profile', '--tail', String(tail.id), '--json']);
    assert.equal(shown.code, 0, shown.stderr);
    const { places } = JSON.parse(shown.stdout) as {
      places: { file: string; line: number; function: string }[];
    };
    assert.ok(isIn('growingExpression', places[0]), JSON.stringify(places.slice(0, 4)));
    assert.equal(
      places.find((place) => place.function === 'burn'),
      undefined,
      'nothing of another request is in it',
    );
    const table = await sluice.cli(['profile', '--tail']);
    assert.match(table.stdout, /HOTTEST\n.*growingExpression .*faults\.ts:\d+/);
    const snapshot = (await sluice.status()) as unknown as { tails: Tail[]; overlaps_total: number };
    assert.equal(snapshot.tails[0]?.class, tail.class);
    assert.equal(snapshot.overlaps_total, 0);
    const none = await sluice.cli(['profile', '--tail', '999999']);
    assert.deepEqual([none.code, none.stderr.includes('there is no profile 999999')], [1, true]);
  });
}

void test('a list of profiles that cannot be read is written anew', async (t) => {
  const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-t-'));
  t.after(() => fs.rmSync(parent, { recursive: true, force: true }));
  const runDir = path.join(parent, 'run');
  const tails = path.join(runDir, 'profiles', 'tail');
  fs.mkdirSync(tails, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(tails, 'index.json'), '[{');
  const sluice = await running(t, { entry: await bundled(dir), workers: 1, runDir });
  await eventually(() => fs.readFileSync(path.join(tails, 'index.json'), 'utf8') === '[]', {
    what: 'a list that can be read',
  });
  assert.deepEqual(await tailsOf(sluice), []);
  await end(sluice);
});

void test('no request is profiled where that is off', async (t) => {
  const config = '[profile]\ntail = "off"\n';
  const sluice = await running(t, { entry: await bundled(dir), workers: 1, config });
  for (let count = 0; count < 60; count += 1) await ask(sluice, '/regex?size=12');
  for (let count = 0; count < 10; count += 1) await ask(sluice, '/regex?size=21');
  assert.deepEqual(await tailsOf(sluice), []);
});
