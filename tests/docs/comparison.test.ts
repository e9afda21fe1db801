// The first page says what was measured, what a peer does better included.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cell, byFault, planOf } from '../../bench/faults/equal.ts';
import { type Result, type ScheduleCell, type Sizes, comparison, withComparison } from './comparison.ts';
import { read } from './repository.ts';

void test('the table of the first page is made from the published results', () => {
  const page = read('README.md');
  assert.equal(page, withComparison(page), 'run `make generate`');
});

const machine = { date: '2099-01-02T03:04:05Z', machine: '2 × CPU', node: 'v20.0.0' };
const SERVERS = ['sluice', 'nginx-haproxy', 'passenger', 'pm2', 'cluster', 'watt'];
const TIMES = { normal: 0, kills: 60, reload: 20, loop: 3 };

/** Long requests of Sluice take twice as long as those of all others. */
const schedule: Result<ScheduleCell, Sizes> = {
  ...machine,
  data: {
    sizes: Object.fromEntries(SERVERS.map((server, at) => [server, { rss_bytes: (200 - at) * 2 ** 20 }])),
    cells: SERVERS.flatMap((server) =>
      ['5 ms', '100 ms'].map((name) => {
        const times = server === 'sluice' && name === '100 ms' ? 2 : 1;
        const sent = { percent: 72, server, class: name, sent: 1_000, ok: 1_000 };
        return { ...sent, p50: 100 * times, p95: 200 * times, p99: 300 * times };
      }),
    ),
  },
};

/** A POST of Sluice fails at every fourth kill, of the others none. */
function faults(kills = TIMES.kills): Result<Cell> {
  const cells = ['Sluice', 'nginx + HAProxy', 'Passenger', 'PM2', 'node:cluster'].flatMap((server) =>
    Object.entries({ ...TIMES, kills: server === 'Sluice' ? kills : TIMES.kills }).map(([fault, times]) => {
      const plan = planOf(fault, times, 1_000, 200, 12_100);
      const moments = Array.from({ length: times }, (_, at) => 1_000 * at);
      const failed = server === 'Sluice' && fault === 'kills' ? moments.slice(0, 15) : [];
      const failures = failed.map((at) => ({ method: 'POST' as const, sent_ms: at - 1, ended_ms: at + 1 }));
      const offered = { GET: 10_000, POST: plan.requests - 10_000 };
      return { fault, server, round: 0, plan, ms: 4, offered, problem: '', ...byFault(failures, moments) };
    }),
  );
  return { ...machine, data: { cells } };
}

void test('failures are told for each kill, GET and POST apart', () => {
  const table = comparison(schedule, faults());
  assert.match(
    table,
    /^\| \*\*Sluice\*\* \|.*\| 0 \/ 0\.25 \| 0 of 12,100 \| 0 of 12,100 \| 0 of 12,100 \|$/mu,
  );
  assert.match(
    table,
    /^\| Watt \| 100 \/ 200 \/ 300 ms \| 100 \/ 200 \/ 300 ms \| 195 MiB \| (not measured \|? ?){4}$/mu,
  );
});

void test('every figure in which a peer is better is named below the table', () => {
  const table = comparison(schedule, faults());
  const lost = table.split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(lost, [
    '- p50 of long requests: 200 against 100 ms (nginx + HAProxy), 2.00×',
    '- p95 of long requests: 400 against 200 ms (nginx + HAProxy), 2.00×',
    '- p99 of long requests: 600 against 300 ms (nginx + HAProxy), 2.00×',
    '- memory of all processes: 200 against 195 MiB (Watt), 1.03×',
    '- POSTs that fail per kill: 0.25 against 0 (nginx + HAProxy)',
  ]);
  assert.match(table, /^\| \|.*\| failed per kill of a worker, GET \/ POST \(Sluice's worst\) \|/mu);
});

void test('a table of unequal kills is not made', () => {
  assert.throws(() => comparison(schedule, faults(12)), /compares unlike things: .*fewer than 60 faults/u);
});

void test('a table of servers that left requests unanswered is not made', () => {
  const [first, ...others] = schedule.data.cells;
  assert.ok(first !== undefined);
  const data = { ...schedule.data, cells: [{ ...first, ok: 900 }, ...others] };
  assert.throws(() => comparison({ ...schedule, data }, undefined), /left 100 of 1000 unanswered/u);
});

void test('the table tells of failures only where results of them are published', () => {
  assert.doesNotMatch(comparison(schedule, undefined), /fail|kill/u);
});
