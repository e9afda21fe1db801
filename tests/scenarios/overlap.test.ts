// The rule that everything else rests on, under load with aborts and timeouts mixed in: gateway, preload and app each
// count what a worker held at once, and all of them count no overlap.
//
// SLUICE_SEED=n replays a run's choices; SLUICE_TEST_LONG=1 sends many more requests.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { long, type Random, randomFrom, seed } from '../support/chance.ts';
import { CutShort, RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { bytesOf, running, slotsHeld, statusWhen } from './scenario.ts';

const requests = long ? 50_000 : 2_000;
const HELD_MAX = 4;

interface Counts {
  requests: number;
  overlaps: number;
  held_max: number;
}

void test(`I1: no overlap in ${requests} requests with aborts and timeouts (seed ${seed})`, async (t) => {
  for (const { overlaps, held_max } of await countsOf(t, { SLUICE_WORKERS_CONCURRENCY: '1' }))
    assert.deepEqual([overlaps, held_max <= 1], [0, true]);
});

void test(`I1: while-waiting keeps its bound in ${requests} requests with aborts and timeouts (seed ${seed})`, async (t) => {
  const env = { SLUICE_WORKERS_CONCURRENCY: 'while-waiting', SLUICE_WORKERS_CONCURRENCY_MAX: `${HELD_MAX}` };
  for (const { held_max } of await countsOf(t, env)) assert.ok(held_max <= HELD_MAX, `${held_max} at once`);
});

/** What each worker's app counted; checks what holds in any mode. */
async function countsOf(t: TestContext, mode: Record<string, string>): Promise<Counts[]> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-overlap-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const env = {
    ...mode,
    OVERLAP_DIR: dir,
    SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '25',
    SLUICE_QUEUE_LENGTH_MAX: '50',
  };
  const sluice = await running(t, { entry: app('overlap.js'), workers: 3, env });
  const rss_before = rssOf((await sluice.status()).pid);
  const random = randomFrom(seed);
  let left = requests;
  const ends = new Map<End, number>();
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      while (left-- > 0)
        for (const end of await oneRequest(sluice, random)) ends.set(end, (ends.get(end) ?? 0) + 1);
    }),
  );
  // A machine with other work may keep a worker off its core for longer than it may be silent, in the middle of an answer too.
  const cut = ends.get('cut') ?? 0;
  ends.delete('cut');
  assert.deepEqual(
    [...ends.keys()].sort((a, b) => Number(a) - Number(b)),
    [200, 503, 504],
    'answered, shed and timed out are among them, and nothing else',
  );
  assert.ok(
    cut <= (await timedOutWithin(sluice)),
    `${cut} answers were cut, not all because the worker was silent`,
  );
  const after = await statusWhen(
    sluice,
    (now) => slotsHeld(now) === 0 && now.queue.length === 0 && now.connections === 0,
    'an idle gateway',
  );
  assert.equal(after.overlaps_total, 0, 'overlaps that gateway and preload counted');
  assert.ok(rssOf(after.pid) - rss_before < 64 * 1024 * 1024, 'memory of the gateway is bounded');
  await sluice.stop();
  const counts = fs
    .readdirSync(dir)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(fs.readFileSync(path.join(dir, name), 'utf8')) as Counts);
  assert.ok(counts.length >= 3);
  assert.ok(counts.reduce((sum, { requests: seen }) => sum + seen, 0) > requests / 10, 'the app was at work');
  return counts;
}

/** Status of an answer that was whole, or that it was not. */
type End = number | 'cut';

/** Answers of the app's that the gateway ended because the worker sent nothing more in time. */
async function timedOutWithin(sluice: Sluice): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  const lines = page.matchAll(
    /^sluice_requests_total\{(?=.*status="200")(?=.*outcome="timed_out").*\} (\d+)$/gm,
  );
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Sends one request and lets it come to one of several ends. */
async function oneRequest(sluice: Sluice, random: Random): Promise<End[]> {
  const connection = await RawConnection.connect(sluice.port);
  const targets = [
    '/',
    '/spin?ms=1',
    '/sleep?ms=3',
    '/sleep?ms=60',
    '/stream?chunks=3&interval_ms=1',
    '/big?bytes=200000',
  ];
  connection.send(bytesOf(targets[random(targets.length)] ?? '/'));
  try {
    switch (random(4)) {
      case 0:
        await wait(random(10));
        connection.reset();
        return [];
      case 1:
        connection.close();
        return [];
      default:
        return [await endOf(connection)];
    }
  } finally {
    connection.close();
  }
}

/** Who was refused waits a little, so that most of the load is work and not refusals. */
async function endOf(connection: RawConnection): Promise<End> {
  try {
    const { status } = await connection.response();
    if (status === 503) await wait(20);
    return status;
  } catch (error) {
    if (error instanceof CutShort) return 'cut';
    throw error;
  }
}

/** Resident bytes; 0 where there is no /proc. */
function rssOf(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!fs.existsSync(file)) return 0;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(file, 'utf8'))?.[1]) * 1024;
}
