// Requests that workers die with, for a page that many others want: the others get it, and few workers die.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { eventually } from '../support/eventually.ts';
import { allReady, ask, assertRefused, ownApp, running, sent, slotsHeld, statusWhen } from './scenario.ts';

const quick = bounds({ backoff_ms_min: 1, backoff_ms_max: 10 });
const entry = ownApp('hostile.js');
const workers = 4;

async function metric(sluice: Sluice, name: string): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1]);
}

interface Outcome {
  innocent: string[];
  hostile: string[];
  deaths: number;
}

/** 100 hostile requests among 50 innocent ones a second; what both were answered, and how many workers died. */
async function attacked(
  t: TestContext,
  evil: (index: number) => string,
  env = {},
): Promise<[Sluice, Outcome]> {
  const sluice = await running(t, { entry, workers, env: { ...quick, ...env } });
  const before = await allReady(sluice, workers);
  const outcome: Outcome = { innocent: [], hostile: [], deaths: 0 };
  const told = async (into: string[], headers: string): Promise<void> => {
    const { status, headers: answered } = await ask(sluice, '/popular', { headers, deadlineMs: 30_000 });
    into.push(status === 200 ? '200' : `${status} ${answered.get('x-sluice-error') ?? ''}`);
  };
  const asked: Promise<void>[] = [];
  for (let index = 0; index < 400; index++) {
    const agent = `User-Agent: browser ${index % 5}\r\n`;
    const cookie = index % 2 === 0 ? `Cookie: user=${index % 50}\r\n` : '';
    asked.push(told(outcome.innocent, agent + cookie));
    if (index % 4 === 0) asked.push(told(outcome.hostile, `${agent}${evil(index)}`));
    await wait(20);
  }
  await Promise.all(asked);
  const after = await allReady(sluice, workers);
  const restarts = (of: typeof after) => of.workers.reduce((sum, worker) => sum + worker.restarts_total, 0);
  outcome.deaths = restarts(after) - restarts(before);
  t.diagnostic(`${outcome.deaths} workers died; hostile: ${JSON.stringify(counted(outcome.hostile))}`);
  return [sluice, outcome];
}

function counted(outcomes: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** While workers start again, the queue may honestly refuse some; quarantine may not. */
function noneQuarantined(innocent: string[]): void {
  const counts = counted(innocent);
  assert.equal(counts['500 SLU-REQUEST-QUARANTINED'] ?? 0, 0, JSON.stringify(counts));
  assert.ok((counts['200'] ?? 0) >= 300, JSON.stringify(counts));
}

void test('I5: 100 hostile requests for a page do not block other clients of the page', async (t) => {
  const [sluice, { innocent, hostile, deaths }] = await attacked(t, () => 'X-Evil: secret-value\r\n');
  noneQuarantined(innocent);
  assert.equal(hostile.length, 100);
  // One for each browser that the attacker pretends to be at most twice, and what was probed in between.
  assert.ok(deaths <= 16, `${deaths} workers died`);
  const { stdout } = await sluice.cli(['quarantine']);
  assert.match(stdout, /GET \/popular +recognized by x-evil/);
  assert.doesNotMatch(stdout, /secret-value/);
  const note = await eventually(
    () =>
      sluice.logs.find(
        ({ event, text }) => event === 'request_quarantined' && /crashed a second worker/.test(String(text)),
      ),
    { what: 'the note in the log' },
  );
  assert.doesNotMatch(String(note['text']), /secret-value/);
});

void test('I5: hostile requests that differ each time are recognized by what they have in common', async (t) => {
  const [, { innocent, deaths }] = await attacked(t, (index) => `X-Evil: ${index}\r\n`);
  noneQuarantined(innocent);
  assert.ok(deaths <= 16, `${deaths} workers died`);
});

void test('I5: if workers have several requests, no neighbour of a hostile one is quarantined', async (t) => {
  const env = { SLUICE_WORKERS_CONCURRENCY: '4', MS: '60' };
  const [sluice, { innocent, deaths }] = await attacked(t, () => 'X-Evil: 1\r\n', env);
  noneQuarantined(innocent);
  assert.ok(deaths <= 20, `${deaths} workers died`);
  assert.ok((await metric(sluice, 'sluice_quarantined_requests')) >= 1);
});

void test('one hostile request that is sent again ends two workers and puts nothing else into quarantine', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env: quick });
  assertRefused(await ask(sluice, '/popular', { headers: 'X-Evil: 1\r\n' }), 502, 'SLU-WORKER-DIED');
  for (const headers of ['', 'User-Agent: other\r\n', 'Cookie: a=b\r\n'])
    assert.equal((await ask(sluice, '/popular', { headers })).status, 200);
  // Exactly like it: no third worker.
  assertRefused(await ask(sluice, '/popular', { headers: 'X-Evil: 1\r\n' }), 500, 'SLU-REQUEST-QUARANTINED');
});

void test('a probe lasts until its worker has answered or died, whether its client waits or not', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-fickle-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const sluice = await running(t, {
    entry: ownApp('poison.js'),
    workers,
    env: { ...quick, POISON_DIR: dir },
  });
  const deaths = (): number => fs.readFileSync(path.join(dir, 'fickle')).length;
  const target = '/fickle?ms=1500';
  assert.equal((await ask(sluice, target)).status, 200);
  fs.writeFileSync(path.join(dir, 'fickle'), '');
  assert.equal((await ask(sluice, target, { deadlineMs: 20_000 })).status, 502);
  assert.equal(deaths(), 2, 'the request and its second try');
  await allReady(sluice, workers);
  const probe = await sent(sluice, target);
  await statusWhen(sluice, (now) => slotsHeld(now) === 1, 'the probe in a worker');
  probe.close();
  const others = await Promise.all([1, 2].map(() => ask(sluice, target, { deadlineMs: 20_000 })));
  for (const other of others) assertRefused(other, 500, 'SLU-REQUEST-QUARANTINED');
  assert.equal(deaths(), 3, 'nobody is tried beside the probe');
});
