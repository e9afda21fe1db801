import assert from 'node:assert/strict';
import test from 'node:test';
import { type Cell, byFault, faultOf, minutesOf, planOf, totalOf, unequal } from './equal.ts';

const plan = planOf('kills', 60, 1_000, 170, 10_000);

/** A cell that may be published. */
function cell(server: string, change: Partial<Cell> = {}): Cell {
  const moments = Array.from({ length: 60 }, (_, at) => 500 + 1_000 * at);
  const offered = { GET: 8_228, POST: plan.requests - 8_228 };
  const names = { fault: 'kills', server, round: 0, plan, ms: 4, problem: '' };
  return { ...names, offered, ...byFault([], moments), ...change };
}

test('requests arrive for as long as faults are injected, and are never fewer than asked for', () => {
  assert.equal(plan.requests, Math.ceil(170 * 60.5));
  assert.equal(planOf('normal', 0, 0, 170, 10_000).requests, 10_000);
  assert.equal(planOf('kills', 3, 1_000, 100, 10_000).requests, 10_000);
});

test('the time of a run grows with servers and rounds', () => {
  const once = minutesOf([plan], 1, 1);
  assert.equal(minutesOf([plan], 5, 1), 5 * once);
  assert.ok(minutesOf([plan], 1, 2) > once + plan.requests / plan.rate_per_s / 60);
});

test('a request fails by the fault that came while it was under way', () => {
  const moments = [1_000, 2_000, 3_000];
  assert.equal(faultOf({ method: 'GET', sent_ms: 1_990, ended_ms: 2_010 }, moments), 1);
  // Refused right after a death.
  assert.equal(faultOf({ method: 'GET', sent_ms: 2_400, ended_ms: 2_401 }, moments), 1);
  // One that timed out met the first that came.
  assert.equal(faultOf({ method: 'GET', sent_ms: 500, ended_ms: 10_500 }, moments), 0);
  assert.equal(faultOf({ method: 'GET', sent_ms: 3_500, ended_ms: 13_500 }, moments), 2);
  assert.equal(faultOf({ method: 'GET', sent_ms: 100, ended_ms: 900 }, moments), undefined);
});

test('no failure is lost between the faults, and methods stay apart', () => {
  const counted = byFault(
    [
      { method: 'POST', sent_ms: 990, ended_ms: 1_001 },
      { method: 'POST', sent_ms: 1_100, ended_ms: 1_101 },
      { method: 'GET', sent_ms: 2_100, ended_ms: 2_101 },
      { method: 'GET', sent_ms: 10, ended_ms: 20 },
    ],
    [1_000, 2_000],
  );
  assert.deepEqual(
    counted.events.map(({ failed }) => failed),
    [
      { GET: 0, POST: 2 },
      { GET: 1, POST: 0 },
    ],
  );
  assert.deepEqual(counted.failed, { GET: 2, POST: 2 });
  assert.deepEqual(counted.failed_before, { GET: 1, POST: 0 });
});

test('failures for each fault are those of all rounds over all their faults', () => {
  const failed = { GET: 0, POST: 9 };
  const { events, per_event } = totalOf([cell('Sluice', { failed }), cell('Sluice', { round: 1 })]);
  assert.deepEqual([events, per_event], [120, { GET: 0, POST: 9 / 120 }]);
});

test('cells with the same faults and the same requests may be published', () => {
  assert.deepEqual(unequal([cell('Sluice'), cell('PM2')]), []);
});

test('unequal kills are refused', () => {
  const fewer = cell('PM2', { events: cell('PM2').events.slice(0, 12) });
  assert.match(unequal([cell('Sluice'), fewer]).join('\n'), /unequal faults: Sluice 60, PM2 12/);
  assert.match(unequal([fewer, fewer]).join('\n'), /12 faults instead of 60/);
});

test('unequal loads are refused', () => {
  const slower = cell('PM2', { plan: { ...plan, rate_per_s: 100 } });
  assert.match(unequal([cell('Sluice'), slower]).join('\n'), /unequal rates/);
  const fewer = cell('PM2', { offered: { GET: 800, POST: 200 } });
  const reasons = unequal([cell('Sluice'), fewer]).join('\n');
  assert.match(reasons, /unequal requests/);
  assert.match(reasons, /1000 requests instead of/);
  assert.match(unequal([cell('Sluice'), cell('PM2', { ms: 5 })]).join('\n'), /unequal work/);
});

test('few requests and few faults are refused, though they are equal', () => {
  const small = { ...planOf('kills', 12, 1_000, 170, 100) };
  const change = {
    plan: small,
    events: cell('').events.slice(0, 12),
    offered: { GET: small.requests, POST: 0 },
  };
  const reasons = unequal([cell('Sluice', change), cell('PM2', change)]).join('\n');
  assert.match(reasons, /fewer than 60 faults/);
  assert.match(reasons, /fewer than 10000 requests/);
});

test('a server that is missing in a cell, or stands alone, is refused', () => {
  const normal = cell('Sluice', { fault: 'normal', plan: { ...plan, times: 0 }, events: [] });
  assert.match(unequal([cell('Sluice'), cell('PM2'), normal]).join('\n'), /normal.*: not one cell of PM2/);
  assert.match(unequal([cell('Sluice')]).join('\n'), /not two servers/);
  assert.notDeepEqual(unequal([]), []);
});

test('a rate that a server does not carry without any fault is refused', () => {
  const normal = {
    fault: 'normal',
    plan: { ...plan, fault: 'normal', times: 0 },
    events: [],
    failed: { GET: 200, POST: 0 },
  };
  assert.match(unequal([cell('Sluice', normal), cell('PM2', normal)]).join('\n'), /does not carry 170/);
});

test('a fault that could not be injected is refused', () => {
  const reasons = unequal([cell('Sluice'), cell('PM2', { problem: 'not done: pm2 reload left with 1' })]);
  assert.deepEqual(reasons, ['kills, round 1, PM2: not done: pm2 reload left with 1']);
});
