// What grows with the age of workers is told by class, with the pace, and what workers need.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { ask, ownApp, running, statusWhen } from './scenario.ts';

void test('time outside the handler, memory and files that grow are told with their pace, and nothing else is', async (t) => {
  // Seconds stand for an hour: twelve instead of 3,600.
  const env = bounds({ alarm_growth_after_s: 12, alarm_after_s: 1 });
  const sluice = await running(t, { entry: ownApp('routes/older.cjs'), workers: 1, env });
  let isOver = false;
  t.after(() => (isOver = true));
  const load = (async () => {
    while (!isOver) {
      for (const target of ['/page', '/steady']) assert.equal((await ask(sluice, target)).status, 200);
    }
  })();
  const wanted = ['outside_handler', 'cpu_time', 'service_time', 'resident_memory', 'heap', 'open_files'];
  const grown = await statusWhen(
    sluice,
    ({ growing }) => wanted.every((what) => growing.some((one) => one.what === what)),
    'all that grows',
    60_000,
  );
  assert.deepEqual(
    grown.growing.filter((one) => one.class !== null && !one.class.includes('/page')),
    [],
    'the other class does not grow',
  );
  for (const { what, from, to, per_hour, since_generation } of grown.growing) {
    assert.ok(to > from && per_hour > 0, what);
    assert.equal(since_generation, 1, what);
  }
  // A busy machine hides one of them for a moment.
  const told = [
    /\+[\d.]+ ms\/h outside the handler \(from .* since generation 1\)/,
    /; the route table grew by \d+\/h/,
    /\+\d+ MiB\/h of resident memory/,
  ];
  await statusWhen(
    sluice,
    ({ alarms }) => {
      const texts = alarms.filter(({ alarm }) => alarm === 'grows_with_age').map(({ text }) => text);
      return texts.length === 2 && told.every((pace) => texts.some((text) => pace.test(text)));
    },
    'both alarms, with what grows',
    60_000,
  );
  isOver = true;
  await load;
  // One that a busy machine has hidden is raised again.
  const raised = () =>
    sluice.logs.filter(({ event, alarm }) => event === 'alarm_raised' && alarm === 'grows_with_age');
  await eventually(() => new Set(raised().map((line) => line['class'])).size === 2, {
    what: 'a line for each',
  });
  const { stdout } = await sluice.cli(['status']);
  assert.match(stdout, /the longer a worker serves/);
});
