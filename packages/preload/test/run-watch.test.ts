// Runs of the main thread as the preload counts them, against what is known of them, and against a full hook of every resource.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { test } from 'node:test';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { RUN_BOUNDS_US } from '../src/control/messages.js';
import { RunHistogram } from '../src/cpu/run-histogram.js';
import { named, type RunOwner, RunWatch } from '../src/cpu/run-watch.js';

const owner = (label: string): RunOwner => ({ label, runs: undefined, longest: undefined });

/** Keeps the main thread, on the wall clock. */
function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Watches what `work` does, in runs of its own. */
async function watched(work: (watch: RunWatch) => Promise<void>): Promise<RunWatch> {
  const watch = new RunWatch();
  watch.start();
  try {
    await turn();
    await work(watch);
    await turn();
    await turn();
  } finally {
    watch.stop();
  }
  return watch;
}

/** Runs of at least so many milliseconds. */
function longerThan(watch: RunWatch, ms: number): number {
  const { counts } = watch.news();
  const from = RUN_BOUNDS_US.indexOf(ms * 1000) + 1;
  return counts.slice(from).reduce((sum, count) => sum + count, 0);
}

test('buckets hold what is below their bounds', () => {
  const histogram = new RunHistogram();
  for (const us of [0, 9.9, 10, 999, 1000, 10_000_000, 1e12]) histogram.add(us);
  assert.equal(histogram.counts.length, RUN_BOUNDS_US.length + 1);
  assert.deepEqual(
    histogram.counts.flatMap((count, bucket) => (count === 0 ? [] : [[bucket, count]])),
    [
      [0, 2],
      [1, 1],
      [RUN_BOUNDS_US.indexOf(1000), 1],
      [RUN_BOUNDS_US.indexOf(1000) + 1, 1],
      [RUN_BOUNDS_US.length, 2],
    ],
  );
});

test('microtasks and ticks belong to the run that they follow', async () => {
  const one = owner('one');
  await watched(async (runs) => {
    runs.enter(one);
    await pause(1);
    busy(60);
    await Promise.resolve();
    busy(60);
    await new Promise<void>((done) => process.nextTick(done));
    busy(60);
    queueMicrotask(() => busy(60));
    await pause(1);
  });
  assert.equal(one.runs?.[2], 1, String(one.runs));
  assert.ok((one.longest?.us ?? 0) >= 240_000, String(one.longest?.us));
});

test('timers that fire together are runs of their own, and waiting is none', async () => {
  const watch = await watched(async () => {
    const timers = [1, 2, 3].map(() => new Promise<void>((done) => setTimeout(() => done(busy(220)), 5)));
    await Promise.all(timers);
    await pause(600);
  });
  assert.equal(longerThan(watch, 200), 3);
  assert.equal(longerThan(watch, 500), 0);
});

test('a run is the request’s that it was handed to, or whose answer it wrote', async () => {
  const [handed, writing, other] = [owner('handed'), owner('writing'), owner('other')];
  const watch = await watched(async (runs) => {
    for (const each of [handed, writing, other]) runs.enter(each);
    await pause(1);
    runs.touch(handed);
    busy(110);
    await pause(1);
    busy(110);
    runs.touch(writing);
    await pause(1);
    busy(110);
    await pause(1);
    runs.touch(handed);
    busy(2);
    runs.touch(other);
    busy(110);
    await pause(1);
  });
  assert.deepEqual(
    [handed, writing, other].map(({ runs }) => runs?.[2]),
    [1, 1, 1],
  );
  const long = watch.news().long.filter(({ us }) => us >= 100_000);
  assert.deepEqual(
    long.map((run) => run.owner),
    [undefined],
    'the third is nobody’s that is known',
  );
  assert.deepEqual(
    long.map((run) => named(run).id),
    [undefined],
  );
});

test('the preload’s own work is no request’s', async () => {
  const alone = owner('alone');
  await watched(async (runs) => {
    runs.enter(alone);
    await pause(1);
    runs.disown();
    busy(110);
    await pause(1);
  });
  assert.equal(alone.runs?.[2] ?? 0, 0);
});

test('a second without a break is urgent', async () => {
  let told = 0;
  const watch = new RunWatch();
  watch.start(() => (told += 1));
  await pause(1);
  busy(1_010);
  await pause(1);
  await turn();
  watch.stop();
  assert.equal(told, 1);
  assert.ok(watch.isUrgent);
  assert.equal(watch.news().long.filter(({ us }) => us >= 1_000_000).length, 1);
  assert.ok(!watch.isUrgent);
});

test('a second for the operator is counted and is nobody’s fault', async () => {
  const alone = owner('alone');
  let told = 0;
  const watch = new RunWatch();
  watch.start(() => (told += 1));
  watch.enter(alone);
  await pause(1);
  watch.serveOperator();
  busy(1_010);
  await pause(1);
  await turn();
  watch.stop();
  assert.equal(told, 0);
  // A slow machine makes a run of some milliseconds of anything.
  assert.deepEqual(alone.runs?.slice(2) ?? [0, 0], [0, 0]);
  assert.equal(longerThan(watch, 1_000), 1);
  assert.deepEqual(
    watch.news().long.filter(({ us }) => us >= 1_000_000),
    [],
  );
});

test('pauses of the collector are counted apart, and found in their run', async () => {
  const storming = owner('storming');
  const watch = await watched(async (runs) => {
    runs.enter(storming);
    await pause(1);
    let kept: unknown[] = [];
    for (let round = 0; round < 40; round++) {
      kept = Array.from({ length: 50_000 }, (_, at) => ({ at, round }));
    }
    assert.equal(kept.length, 50_000);
    await pause(5);
  });
  const { collections, collected_us } = watch.news();
  assert.ok(collections > 0 && collected_us > 0);
  assert.ok((storming.longest?.collected_us ?? 0) > 0);
});

test('errors that the app catches at the last moment lose no run', () => {
  const script = `
    import { RunWatch } from ${JSON.stringify(new URL('../dist/cpu/run-watch.js', import.meta.url).href)};
    import { AsyncResource } from 'node:async_hooks';
    const watch = new RunWatch();
    watch.start();
    let left = 5;
    process.on('uncaughtException', next);
    function next() {
      if (left-- > 0) return setTimeout(() => new AsyncResource('Inner').runInAsyncScope(() => { throw new Error('of the app'); }), 1);
      let runs = 3;
      setTimeout(function run() {
        const end = performance.now() + 220;
        while (performance.now() < end);
        if (--runs > 0) setTimeout(run, 1);
        else setTimeout(() => { console.log(JSON.stringify(watch.news().counts)); process.exit(); }, 1);
      }, 1);
    }
    next();`;
  const counts: unknown = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  );
  assert.ok(Array.isArray(counts));
  assert.equal(counts[RUN_BOUNDS_US.indexOf(200_000) + 1], 3, String(counts));
});

test('time without a CPU is told apart from time on one', async () => {
  const time = { cpu_us: 1_000_000, queued_us: 500_000 };
  const watch = new RunWatch(() => ({ ...time }));
  watch.start();
  await pause(1);
  busy(60);
  time.cpu_us += 4_000;
  time.queued_us += 1_000_000;
  await pause(1);
  await turn();
  watch.stop();
  const run = watch.news().long.find(({ us }) => us >= 50_000);
  assert.ok(run !== undefined);
  // Other runs, of a slow machine, may lie between the look before and this one.
  assert.ok((run.cpu_us ?? Infinity) <= 4_000, String(run.cpu_us));
  assert.ok((run.queued_us ?? 0) > run.us / 2 && (run.queued_us ?? 0) <= run.us, String(run.queued_us));
  const line = named(run);
  assert.ok(Number.isInteger(line.queued_us) && Number.isInteger(line.cpu_us));
});

test('a thread that competes for its CPU at the lowest priority is seen to queue', (t) => {
  const script = `
    import { setPriority } from 'node:os';
    import { threadTime } from ${JSON.stringify(new URL('../dist/cpu/thread-time.js', import.meta.url).href)};
    setPriority(19);
    const before = threadTime();
    const cpu_us = () => process.cpuUsage().user + process.cpuUsage().system;
    const end_us = cpu_us() + 10_000;
    while (cpu_us() < end_us);
    const after = threadTime();
    const queued_us = after.queued_us === undefined ? null : after.queued_us - before.queued_us;
    console.log(JSON.stringify({ cpu_us: after.cpu_us - before.cpu_us, queued_us }));
  `;
  const last = ['-c', '0', process.execPath, '--input-type=module', '-e', script];
  const hog = spawn('taskset', ['-c', '0', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  t.after(() => hog.kill('SIGKILL'));
  let told: string;
  try {
    told = execFileSync('taskset', last, { encoding: 'utf8' });
  } catch {
    return t.skip('this system cannot bind a process to a CPU');
  }
  const { cpu_us, queued_us } = JSON.parse(told) as { cpu_us: number; queued_us: number | null };
  assert.ok(cpu_us > 5_000, told);
  if (queued_us === null) return t.skip('this system does not tell how long a thread queued');
  assert.ok(queued_us > cpu_us, told);
});
