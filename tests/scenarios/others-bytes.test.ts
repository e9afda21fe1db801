// Apps that make every mistake there is with their answers, beside clients that ask for pages. Each request has a canary of
// its own, and every byte that comes back is looked at. `make bench-answers` does the same with a million answers.
//
// SLUICE_SEED=7 replays what a failure prints; the order in which answers end is the machine's.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { long, seed } from '../support/chance.ts';
import { type Tally, runChaos, spoiled } from '../support/canaries.ts';
import { mistakes } from '../support/mistakes.ts';
import { type Sluice, type StartOptions, app } from '../support/sluice.ts';
import { pidOf, running, slotsHeld, statusWhen } from './scenario.ts';

const ANSWERS = long ? 20_000 : 1_200;
/** Ends a run on a slow machine. */
const DURATION_MS_MAX = long ? 120_000 : 3_000;
/** What a machine that is busy with other tests reaches at least; fewer say nothing. */
const ANSWERS_MIN = 25;
const WORKERS = 3;

/** What is never answered is given up soon, so that workers are there for the others. */
const soon = { SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '400' };

const withoutPreload: StartOptions = {
  command: ['env', '-u', 'NODE_OPTIONS', 'OWN_SOCKET=1', process.execPath, app('faulty.js')],
};
/** Most mistakes take a worker that reports nothing with them, so that many at once would leave none for the innocent. */
const faultyAtOnce = (mode: string) => (mode.startsWith('without') || mode === 'one at a time' ? 2 : 4);
const modes: Record<string, StartOptions> = {
  'one at a time': { entry: app('faulty.js'), flags: ['--concurrency', '1'] },
  'concurrency = "while-waiting"': { entry: app('faulty.js'), flags: ['--concurrency', 'while-waiting'] },
  'concurrency = 4': { entry: app('faulty.js'), flags: ['--concurrency', '4'] },
  'without the preload': withoutPreload,
  'without the preload, concurrency = 4': { ...withoutPreload, flags: ['--concurrency', '4'] },
};

const plan = (sluice: Sluice) => ({
  port: sluice.port,
  answers: ANSWERS,
  duration_ms_max: DURATION_MS_MAX,
  innocents: 8,
  faulty: 4,
  aborts: 0.05,
  seed,
});

function start(t: TestContext, options: StartOptions, env: Record<string, string>): Promise<Sluice> {
  return running(t, { ...options, workers: WORKERS, env: { ...env, SLUICE_LOG_ACCESS: 'false' } });
}

function assertOwn(tally: Tally): void {
  const { others, strange, examples } = tally;
  const replay = `SLUICE_SEED=${seed}; ${JSON.stringify({ ...tally, examples: [] })}`;
  assert.deepEqual({ others, strange }, { others: 0, strange: 0 }, `${replay}\n${examples.join('\n')}`);
  assert.ok(tally.answers >= ANSWERS_MIN, `too few to say anything: ${replay}`);
  assert.ok((tally.innocents['whole'] ?? 0) > 0 && Object.keys(tally.faulty).length > 0, replay);
}

void test("I10: no byte of one request's answer reaches another, whatever mistakes the app makes", async (t) => {
  for (const [mode, options] of Object.entries(modes)) {
    await t.test(mode, async (t) => {
      const sluice = await start(t, options, soon);
      const over = runChaos({ ...plan(sluice), faulty: faultyAtOnce(mode) });
      // Beside the mistakes, what an operator and the kernel do.
      const faults = (async () => {
        await wait(DURATION_MS_MAX / 4);
        const [victim] = (await sluice.status()).workers.filter(({ pid }) => pid !== null);
        if (victim !== undefined) process.kill(pidOf(victim), 'SIGKILL');
        await wait(DURATION_MS_MAX / 4);
        await sluice.cli(['reload']);
      })();
      const tally = await over;
      await faults;
      assertOwn(tally);
    });
  }
});

void test('nobody else pays for an app that sends its last bytes late: all get their own page', async (t) => {
  const late = mistakes.filter(({ name }) => name.startsWith('late-bytes') || name.startsWith('late-answer'));
  // Nobody is given up: on a busy machine that would hit the innocent.
  const sluice = await start(t, { entry: app('faulty.js') }, {});
  const tally = await runChaos({ ...plan(sluice), mistakes: late, aborts: 0 });
  assertOwn(tally);
  assert.deepEqual(spoiled(tally), {}, `SLUICE_SEED=${seed}`);
  const { workers } = await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'no slot held');
  assert.ok(
    workers.every(({ restarts_total }) => restarts_total === 0),
    'a worker was replaced',
  );
});
