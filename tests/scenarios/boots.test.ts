// How many workers boot at once. An app that migrates its data at its first boot breaks where two workers do so together.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { runSluice } from '../support/sluice.ts';
import { allReady, ownApp, running, sent, statusWhen } from './scenario.ts';

const WORKERS = 4;

/** The database of the app `migrates.js`. */
class Database {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-boots-'));
  readonly entry = ownApp('migrates.js');

  constructor(context: TestContext) {
    context.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  env(migrate_ms: number, further: Record<string, string> = {}): Record<string, string> {
    return { MIGRATE_DIR: this.dir, MIGRATE_MS: String(migrate_ms), ...further };
  }

  /** `boot`, `clash` and `listens`, in order. */
  get journal(): string[] {
    const file = path.join(this.dir, 'journal');
    const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : [];
    return lines.map((line) => line.split(' ')[0] ?? '').filter(Boolean);
  }
}

void test('an app that migrates at its first boot does so in one worker alone, and no worker is lost', async (t) => {
  const database = new Database(t);
  const sluice = await running(t, {
    entry: database.entry,
    workers: WORKERS,
    env: database.env(700),
    waitUntilReady: false,
  });
  const early = await statusWhen(sluice, ({ boots }) => boots !== null, 'a boot that others wait for');
  assert.deepEqual(early.boots, { waiting: WORKERS - 1, awaited: early.workers[0]?.id });
  assert.match((await sluice.cli(['status'])).stdout, /boots +3 start when worker 1 is ready/);

  await allReady(sluice, WORKERS);
  assert.deepEqual(database.journal.slice(0, 3), ['boot', 'listens', 'boot']);
  assert.deepEqual([...database.journal].sort(), [
    ...Array<string>(WORKERS).fill('boot'),
    ...Array<string>(WORKERS).fill('listens'),
  ]);
  const notes = sluice.logs.filter(({ text }) => String(text).includes('boots alone'));
  assert.equal(notes.length, 1);
  assert.match(String(notes[0]?.['text']), /worker 1 boots alone; workers that wait for it: 3/);
  assert.equal((await sluice.status()).boots, null);
});

void test('a migration that fails is tried once more and then ends the start with its message', async (t) => {
  const database = new Database(t);
  fs.writeFileSync(path.join(database.dir, 'lock'), '');
  const { code, stderr } = await runSluice(
    [
      'start',
      database.entry,
      '--port',
      '0',
      '--admin',
      'off',
      '--run-dir',
      path.join(database.dir, 'run'),
    ].concat('--workers', String(WORKERS)),
    { env: database.env(0) },
  );
  assert.equal(code, 4);
  assert.match(stderr, /table "users" is being created/);
  assert.deepEqual(database.journal, ['boot', 'clash', 'boot', 'clash']);
});

void test('while requests wait, workers beyond the CPUs boot one after the other', async (t) => {
  const database = new Database(t);
  const cpus = os.availableParallelism();
  // No stand-ins, which are further boots.
  const env = database.env(300, bounds({ overdue_after_ms: 0 }));
  const sluice = await running(t, { entry: database.entry, workers: cpus, env });
  await allReady(sluice, cpus);
  const booted = database.journal.length;
  // Each takes longer than all boots together, so that requests wait until every new worker has one of its own.
  const clients = [];
  for (let index = 0; index < cpus + 8; index++) clients.push(await sent(sluice, '/spin/5000'));
  await statusWhen(sluice, ({ queue }) => queue.length === 8, 'a queue');
  assert.equal((await sluice.cli(['scale', String(cpus + 3)])).code, 0);
  await statusWhen(
    sluice,
    ({ workers }) => workers.filter(({ pid }) => pid !== null).length === cpus + 3,
    'more workers',
    20_000,
  );
  await eventually(() => database.journal.length === booted + 6, { deadlineMs: 20_000, what: 'three boots' });
  assert.deepEqual(
    database.journal.slice(booted),
    ['boot', 'listens', 'boot', 'listens', 'boot', 'listens'],
    'one at a time',
  );
  for (const client of clients) client.close();
});
