// Everything that can go wrong at once, for as long as one likes: workers are killed, get stuck, are recycled, reloaded and
// scaled, and the gateway itself is upgraded, while clients never stop asking.
//
// What a client may see besides the right answer, and nothing else:
// - GET: 502 SLU-WORKER-DIED if two workers died with it (I5: it is sent again once); the access log proves it.
// - GET /begun: the connection ends early if its worker died when half of the answer had been sent.
// - GET /loop: 504 SLU-WORKER-STUCK, or what the end of its worker by other means leads to.
// - POST: 502 SLU-WORKER-DIED if this test has killed the worker that held it; and no order is ever begun twice.
// - Anything, while-waiting: 504 SLU-WORKER-STUCK if its worker got a loop beside it.
// - Anything: 503 with Retry-After for lack of room. That is rare, and never because the gateway leaves.
//
// SLUICE_SEED=n replays a run's choices, SLUICE_TEST_MIXED_S=n sets its length; SLUICE_TEST_LONG=1 takes half an hour.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import { long, type Random, randomFrom, seed } from '../support/chance.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { Clients, type Failure, Log } from './mixed.ts';
import {
  allReady,
  gone,
  nothingLeftOf,
  ownApp,
  processesOf,
  running,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

const length_s = Number(process.env['SLUICE_TEST_MIXED_S'] ?? (long ? 1_800 : 10));
const WORKERS = 4;

const env = {
  SLUICE_WORKERS_STUCK_AFTER_MS: '2000',
  // The delays are for loops of crashes, which this looks like.
  ...bounds({ backoff_ms_min: 1, backoff_ms_max: 50 }),
  SLUICE_WORKERS_STOP_TIMEOUT_MS: '5000',
  SLUICE_RECYCLE_REQUESTS_MAX: '40',
  SLUICE_DRAIN_TIMEOUT_MS: '10000',
};

for (const concurrency of ['1', 'while-waiting'])
  void test(
    `mixed faults for ${length_s} s cost nothing that could be saved (concurrency = ${concurrency}, seed ${seed})`,
    { timeout: length_s * 1_000 + 180_000, skip: !fs.existsSync('/proc/self') && 'needs /proc' },
    async (t) => {
      const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-mixed-'));
      t.after(() => {
        fs.rmSync(dir, { recursive: true, force: true });
      });
      t.diagnostic(`SLUICE_SEED=${seed} SLUICE_TEST_MIXED_S=${length_s}`);
      const journal = path.join(dir, 'journal');
      const sluice = await running(t, {
        entry: ownApp('mixed.js'),
        workers: WORKERS,
        // The long lane's worker comes and goes with the traffic, and the count of processes is to be exact.
        env: { ...env, MIXED_FILE: journal, SLUICE_WORKERS_LANES: 'off' },
        flags: ['--concurrency', concurrency],
      });
      const shepherd = (await allReady(sluice, WORKERS)).pid;
      const idle_before = usageOf(shepherd);
      const log = new Log(path.join(sluice.dir, 'stdout'));
      const clients = new Clients(sluice, 12, randomFrom(seed));
      const faults = new Faults(sluice, clients, seed);

      // Upgrades are in the first part only, so that one gateway lives through all of the second, and a leak shows.
      await faults.during(length_s * 0.4, [...everyDay, 'upgrade']);
      const settled = await settledUsage(sluice);
      await faults.during(length_s * 0.6, everyDay);
      const later = await settledUsage(sluice);

      await clients.end();
      assert.equal((await sluice.cli(['scale', String(WORKERS), '--no-wait'])).code, 0);
      const after = await statusWhen(
        sluice,
        (now) => slotsHeld(now) === 0 && now.queue.length === 0 && now.connections === 0,
        'an idle gateway',
      );
      await allReady(sluice, WORKERS);
      // A fresh pool needs the same descriptors again, but for what an upgrade hands over; the old one has kept connections.
      assert.equal((await sluice.cli(['reload'])).code, 0);
      const idle_after = await eventually(
        () => {
          const now = usageOf(after.pid);
          return (
            processesOf(sluice).length === WORKERS && now.descriptors <= idle_before.descriptors + 2 && now
          );
        },
        { deadlineMs: 20_000, what: `${WORKERS} workers and ${idle_before.descriptors} descriptors` },
      );
      const pids = [...processesOf(sluice), after.pid, shepherd];
      sluice.signal('SIGTERM');
      assert.equal((await sluice.finished()).code, 0);
      await nothingLeftOf(sluice);
      await gone(pids);
      log.read();
      t.diagnostic(JSON.stringify({ ...faults.done, ...clients.answers, events: log.events }));
      t.diagnostic(JSON.stringify({ idle_before, settled, later, idle_after }));

      const unexplained = clients.failures.filter(
        (failure) => !log.diedTwice(failure) && !isNeighbourOfLoop(failure, concurrency),
      );
      assert.deepEqual(unexplained, []);
      const orders = notesOf(journal, 'order');
      const begunBy = new Map(orders);
      assert.equal(begunBy.size, orders.length, 'no order is begun twice');
      const losers = clients.ordersLost.flatMap((target) => begunBy.get(target) ?? []);
      assert.deepEqual(
        losers.filter((worker) => !faults.killed.has(Number.parseInt(worker, 10))),
        [],
        'workers that lost an order and were not killed',
      );
      if (concurrency === '1') {
        // A worker holds one request, so each that was killed may have lost one order: the one that it had begun, if any.
        assert.equal(new Set(losers).size, losers.length, 'no worker lost two orders');
        assert.ok(
          clients.ordersLost.length <= faults.killed.size,
          'orders that were lost on the way to a worker',
        );
        assert.deepEqual(notesOf(journal, 'overlap'), [], 'overlaps that the app saw');
      }
      assert.ok(clients.shed <= clients.asked / 100, `${clients.shed} of ${clients.asked} were shed`);
      assert.deepEqual([after.overlaps_total, log.events['overlap_seen'] ?? 0], [0, 0]);
      assert.doesNotMatch(sluice.stderr, /panicked|RUST_BACKTRACE/);

      // Of a gateway that serves: what comes and goes with the faults of the moment is allowed for.
      assert.ok(later.descriptors <= settled.descriptors + 40, 'descriptors under load stay');
      assert.ok(later.anonymous_kib <= settled.anonymous_kib + 16_384, 'memory under load stays');

      for (const what of ['kill', 'kill all', 'reload', 'upgrade', 'scale', 'loop'] as const) {
        assert.ok((faults.done[what] ?? 0) >= 1, `${what} has happened: ${JSON.stringify(faults.done)}`);
      }
      // In a short run every loop may have been killed before it counted as stuck.
      const stuck = length_s >= 60 ? ['worker_stuck'] : [];
      for (const event of ['worker_recycled', 'reload_finished', ...stuck]) {
        assert.ok((log.events[event] ?? 0) >= 1, `${event}: ${JSON.stringify(log.events)}`);
      }
      assert.ok(clients.asked > length_s * 20, `${clients.asked} requests`);
    },
  );

/** Beside a request that waits, a worker may get one that loops. */
const isNeighbourOfLoop = ({ what }: Failure, concurrency: string): boolean =>
  concurrency !== '1' && what.startsWith('504 SLU-WORKER-STUCK');

type Fault = 'reload' | 'two reloads' | 'scale' | 'loop' | 'kill all' | 'upgrade';
const everyDay: Fault[] = ['reload', 'two reloads', 'scale', 'loop', 'kill all'];

/** Who breaks things and who operates the gateway; each has random numbers of its own, so that a seed means something. */
class Faults {
  readonly done: Partial<Record<Fault | 'kill' | 'reload given up' | 'upgrade given up', number>> = {};
  /** Processes that this has killed. */
  readonly killed = new Set<number>();
  readonly #sluice: Sluice;
  readonly #clients: Clients;
  readonly #killer: Random;
  readonly #operator: Random;

  constructor(sluice: Sluice, clients: Clients, seed: number) {
    this.#sluice = sluice;
    this.#clients = clients;
    this.#killer = randomFrom(seed + 1);
    this.#operator = randomFrom(seed + 2);
  }

  /** All of these, again and again, for that long and at least once each. */
  async during(seconds: number, faults: readonly Fault[]): Promise<void> {
    const until = performance.now() + seconds * 1_000;
    let operates = true;
    const kills = (async () => {
      while (operates) {
        await wait(400 + this.#killer(1_200));
        this.#kill(processesOf(this.#sluice), 1);
      }
    })();
    try {
      do await this.#round(faults, until);
      while (performance.now() < until);
    } finally {
      operates = false;
      await kills;
    }
  }

  async #round(faults: readonly Fault[], until: number): Promise<void> {
    const deck = [...faults];
    while (deck.length > 0) {
      const [fault] = deck.splice(this.#operator(deck.length), 1);
      if (fault === undefined || (performance.now() > until && (this.done[fault] ?? 0) > 0)) continue;
      await this.#happens(fault);
      await wait(this.#operator(1_000));
    }
  }

  async #happens(fault: Fault): Promise<void> {
    switch (fault) {
      case 'reload':
        await this.#reload();
        break;
      case 'two reloads': {
        const first = this.#reload();
        await wait(this.#operator(150));
        this.#sluice.signal('SIGHUP');
        await first;
        this.#count(fault);
        break;
      }
      case 'scale': {
        const { code, stderr } = await this.#sluice.cli([
          'scale',
          String(2 + this.#operator(4)),
          '--no-wait',
        ]);
        assert.equal(code, 0, stderr);
        this.#count(fault);
        break;
      }
      case 'loop':
        this.#clients.loop();
        this.#count(fault);
        break;
      case 'kill all': {
        const all = processesOf(this.#sluice);
        this.#kill(all, all.length);
        this.#count(fault);
        break;
      }
      case 'upgrade':
        await eventually(() => this.#upgrade(), { deadlineMs: 60_000, pauseMs: 500, what: 'an upgrade' });
    }
  }

  /** A worker that is killed while it starts takes the new generation with it, which is what a trial is for. */
  async #reload(): Promise<void> {
    const { code, stdout, stderr } = await this.#sluice.cli(['reload']);
    if (code === 0) return this.#count('reload');
    assert.equal(code, 1, stderr);
    assert.match(stdout + stderr, /abandoned|no reload/);
    this.#count('reload given up');
  }

  async #upgrade(): Promise<boolean> {
    const { code, stdout, stderr } = await this.#sluice.cli(['upgrade']);
    this.#count(code === 0 ? 'upgrade' : 'upgrade given up');
    if (code !== 0) assert.match(stdout + stderr, /upgrade has failed|still finishes its requests|reload/);
    return code === 0;
  }

  /** Any process of any worker: one that serves, starts or leaves, of this gateway or of the one before. */
  #kill(pids: number[], count: number): void {
    for (let left = count; left > 0 && pids.length > 0; left--) {
      const [pid] = pids.splice(this.#killer(pids.length), 1);
      try {
        if (pid === undefined) continue;
        process.kill(pid, 'SIGKILL');
        this.killed.add(pid);
        this.#count('kill');
      } catch {
        // It was gone already.
      }
    }
  }

  #count(what: keyof Faults['done']): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }
}

interface Usage {
  descriptors: number;
  anonymous_kib: number;
}

function usageOf(pid: number): Usage {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    descriptors: fs.readdirSync(`/proc/${pid}/fd`).length,
    anonymous_kib: Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]),
  };
}

/** The least of several looks in two seconds: what the load of the moment adds is not a leak. */
async function settledUsage(sluice: Sluice): Promise<Usage> {
  const pid = await sluice.gatewayPid();
  const least = usageOf(pid);
  for (let look = 0; look < 20; look++) {
    await wait(100);
    const now = usageOf(pid);
    least.descriptors = Math.min(least.descriptors, now.descriptors);
    least.anonymous_kib = Math.min(least.anonymous_kib, now.anonymous_kib);
  }
  return least;
}

/** The app's notes of one kind: target and process. */
/** Targets, each with its worker: the number of the process and its start. */
function notesOf(journal: string, kind: string): [string, string][] {
  return fs
    .readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => line.split(' '))
    .map(([, target = '', ...worker]) => [target, worker.join(' ')]);
}
