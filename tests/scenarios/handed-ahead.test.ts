// Cheap requests are handed to a worker that still has another (0045). Strict mode holds all the same: the app never has two,
// nothing is lost or done twice, and nothing cheap waits behind what turns out to be slow.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { long } from '../support/chance.ts';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { allReady, ask, bytesOf, pidOf, running, statusWhen } from './scenario.ts';

const requests = long ? 100_000 : 12_000;
const CONNECTIONS = 24;
/** Rare enough that the class counts as cheap: fewer than one of a hundred. */
const OUTLIER_EVERY = 300;

interface Stage {
  sluice: Sluice;
  /** Ids that apps have begun, and `overlap` for each time that one held two. */
  begun: () => string[];
}

/** Strict workers that have served enough for their class to be known as cheap. */
async function stage(t: TestContext, workers: number): Promise<Stage> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-handed-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const env = {
    HANDED_DIR: dir,
    SLUICE_WORKERS_CONCURRENCY: '1',
    SLUICE_WORKERS_LANES: 'off',
    // Beside other programs, a request takes longer than those that are cheap elsewhere.
    ...bounds({ cheap_us: 20_000 }),
  };
  const sluice = await running(t, { entry: app('handed.js'), workers, env });
  await allReady(sluice, workers);
  const begun = (): string[] =>
    fs
      .readdirSync(dir)
      .flatMap((name) => fs.readFileSync(path.join(dir, name), 'utf8').split('\n').slice(0, -1));
  return { sluice, begun };
}

/** Cheap requests without a pause over so many connections, until the check says that it is enough. */
async function load(
  sluice: Sluice,
  connections: number,
  isEnough: () => boolean,
  answered: (status: number, took_ms: number) => void = () => {},
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await RawConnection.connect(sluice.port);
      while (!isEnough()) {
        const began = performance.now();
        connection.send(post('', 'x-ms: 0'));
        const { status } = await connection.response({ deadlineMs: 30_000 });
        answered(status, performance.now() - began);
      }
      connection.close();
    }),
  );
}

/** Cheap requests until workers are handed some: their class is known then, and what a cold worker took forgotten. */
async function warm(sluice: Sluice): Promise<void> {
  let isKnown = false;
  const before = (await sluice.status()).requests.handed_total;
  const known = eventually(async () => (await sluice.status()).requests.handed_total >= before + 20, {
    deadlineMs: 60_000,
    what: 'cheap requests that are handed ahead',
  }).finally(() => (isKnown = true));
  await Promise.all([load(sluice, 8, () => isKnown), known]);
}

void test(`I1, I3, I5: ${requests} cheap requests among outliers, kills and reloads`, async (t) => {
  const { sluice, begun } = await stage(t, 3);
  await warm(sluice);
  let sent = 0;
  const statuses = new Map<string, number>();
  const posts = new Map<string, number>();
  let kills = 0;
  const disturb = async (): Promise<void> => {
    if (sent % 4000 === 2000) {
      const reload = await sluice.cli(['reload']);
      assert.equal(reload.code, 0, reload.stderr);
    } else {
      const { workers } = await sluice.status();
      const victim = workers.find(
        ({ pid, state }) => pid !== null && (state === 'busy' || state === 'ready'),
      );
      if (victim === undefined) return;
      kills += 1;
      process.kill(pidOf(victim), 'SIGKILL');
    }
  };
  // Beside other programs an estimate is seldom below the bound, so little is handed. The load goes on until there was enough.
  let isEnough = false;
  const look = async (): Promise<void> => {
    const { handed_total, taken_back_total } = (await sluice.status()).requests;
    isEnough = handed_total > requests / 100 && taken_back_total > 0;
  };
  const disturbances: Promise<void>[] = [];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      let connection = await connect(sluice);
      while (sent < requests || (!isEnough && sent < 10 * requests)) {
        const number = ++sent;
        if (number % 1000 === 0) disturbances.push(disturb(), look());
        const isPost = number % 10 === 0;
        const slow = number % OUTLIER_EVERY === 1 ? `x-ms: 100\r\n` : '';
        connection.send(isPost ? post(String(number), 'x-ms: 0') : bytesOf('/', slow));
        if (number % 25 === 7) {
          // A client that leaves, whose request the app may not have seen yet.
          connection.close();
          connection = await connect(sluice);
          continue;
        }
        const { status, headers } = await connection.response({ deadlineMs: 30_000 });
        const key = `${isPost ? 'POST' : 'GET'} ${status} ${headers.get('x-sluice-error') ?? ''}`.trim();
        statuses.set(key, (statuses.get(key) ?? 0) + 1);
        if (isPost) posts.set(String(number), status);
      }
      connection.close();
    }),
  );
  await Promise.all(disturbances);
  const after = await statusWhen(
    sluice,
    ({ requests, queue }) => requests.in_service + requests.handed + queue.length === 0,
    'an idle gateway',
  );
  const ids = begun();
  assert.equal(after.overlaps_total, 0, 'overlaps that gateway and preload counted');
  assert.ok(!ids.includes('overlap'), 'overlaps that the app counted');
  assert.ok(after.requests.handed_total > requests / 100, `${after.requests.handed_total} were handed ahead`);
  assert.ok(after.requests.taken_back_total > 0, 'some were taken back from behind an outlier');
  const said = JSON.stringify([...statuses]);
  for (const key of statuses.keys()) assert.match(key, /^(GET 200|POST 200|POST 502 SLU-WORKER-DIED)$/, said);
  // Of what a killed worker had, its app can have begun one.
  assert.ok(kills > 0 && (statuses.get('POST 502 SLU-WORKER-DIED') ?? 0) <= kills, `${kills} kills: ${said}`);
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
  for (const [id, status] of posts) {
    const done = times.get(id) ?? 0;
    assert.ok(done <= 1, `POST ${id} was done ${done} times`);
    if (status === 200) assert.equal(done, 1, `POST ${id} was answered and not done`);
  }
});

void test('a cheap request does not wait for the slow one that it was handed behind', async (t) => {
  const { sluice, begun } = await stage(t, 2);
  await warm(sluice);
  const SLOW_MS = 3_000;
  const before = (await sluice.status()).requests.taken_back_total;
  // Whether something stands behind the slow one when it begins is chance.
  for (let round = 0; round < 10; round++) {
    let isOver = false;
    let longest_ms = 0;
    const slow = ask(sluice, '/', { headers: `x-ms: ${SLOW_MS}\r\n`, deadlineMs: 30_000 }).finally(
      () => (isOver = true),
    );
    const cheap = load(
      sluice,
      6,
      () => isOver,
      (status, took_ms) => {
        assert.equal(status, 200);
        longest_ms = Math.max(longest_ms, took_ms);
      },
    );
    const [{ status }] = await Promise.all([slow, cheap]);
    assert.equal(status, 200);
    assert.ok(longest_ms < SLOW_MS - 1_000, `a cheap request took ${longest_ms} ms`);
    if ((await sluice.status()).requests.taken_back_total > before) break;
  }
  const { taken_back_total } = (await sluice.status()).requests;
  assert.ok(taken_back_total > before, 'what was handed behind a slow one was taken back');
  assert.deepEqual(begun(), []);
});

void test('I3, I5: requests handed ahead to a dying worker that did not begin them are served once by another, with any method', async (t) => {
  const { sluice, begun } = await stage(t, 1);
  for (const how of ['x-ms: 1500', 'x-wait: 1500'] as const) {
    let wasHanded = false;
    // Whether the second comes soon enough to be handed over is chance.
    for (let round = 1; round <= 8 && !wasHanded; round++) {
      await warm(sluice);
      const { workers } = await allReady(sluice, 1);
      const [first, second] = await Promise.all([connect(sluice), connect(sluice)]);
      const [one, two] = [`first ${how} ${round}`, `second ${how} ${round}`];
      first.send(post(one, how));
      second.send(post(two, 'x-ms: 0'));
      await eventually(() => begun().includes(one));
      const { requests } = await statusWhen(
        sluice,
        ({ requests, queue }) => requests.handed + queue.length === 1,
        'a second one that waits',
      );
      wasHanded = requests.handed === 1;
      process.kill(pidOf(workers[0]), 'SIGKILL');
      assert.equal((await first.response()).status, 502);
      assert.equal((await second.response({ deadlineMs: 30_000 })).status, 200);
      first.close();
      second.close();
      assert.equal(begun().filter((id) => id === two).length, 1);
    }
    assert.ok(wasHanded, `a request was handed over behind one with ${how}`);
  }
});

const connect = (sluice: Sluice): Promise<RawConnection> => RawConnection.connect(sluice.port);

const post = (id: string, how: string): string =>
  bytesOf('/', `Content-Length: ${id.length}\r\n${id === '' ? '' : `x-id: ${id}\r\n`}${how}\r\n`, 'POST') +
  id;
