// What is left of a crash for somebody who looks minutes later: the exception and its request, in the log, the status and an alarm.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { allReady, ask, assertRefused, ownApp, recordOf, running, statusWhen } from './scenario.ts';
import { logged, metric } from './stuck.ts';

/** More requests than the log keeps lines. */
const REQUESTS = 2_500;
const AT_ONCE = 50;

/** What is told of the error that the app throws in this line. */
function exceptionAt(error: string, text = error.replace(/^.*: /, '')): string {
  const lines = fs.readFileSync(ownApp('throws.js'), 'utf8').split('\n');
  const line = lines.findIndex((one) => one.includes(`Error('${text}')`));
  const column = (lines[line]?.indexOf('new Error') ?? 0) + 1;
  return `${error} (${ownApp('throws.js')}:${line + 1}:${column})`;
}

const THROWN = exceptionAt('Error: thrown in the handler');

async function serveMany(sluice: Sluice): Promise<void> {
  for (let done = 0; done < REQUESTS; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(sluice, '/')));
}

void test('thousands of requests later the log, the status and the alarm still have the exception and its request', async (t) => {
  const env = bounds({ alarm_after_s: 60 });
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 2, env });
  assertRefused(await ask(sluice, '/throw', { method: 'POST' }), 502, 'SLU-WORKER-DIED');
  const record = await recordOf(sluice, '/throw');
  const exit = await logged(sluice, 'worker_exited');
  assert.deepEqual(
    [exit['exception'], exit['request_id'], exit['method'], exit['target'], exit['class'], exit['held']],
    [THROWN, record['request_id'], 'POST', '/throw', 'POST /throw', 1],
  );
  await allReady(sluice, 2);
  await serveMany(sluice);

  const access = await sluice.cli(['logs', '--json', '--kind', 'access', '--lines', '8000']);
  assert.doesNotMatch(access.stdout, /"target":"\/throw"/, 'requests have evicted requests');
  const app = await sluice.cli(['logs', '--json', '--kind', 'app']);
  assert.match(app.stdout, /Error: thrown in the handler/);
  const gateway = await sluice.cli(['logs', '--json', '--kind', 'gateway']);
  assert.match(gateway.stdout, /"exception":"Error: thrown in the handler \(\S+throws\.js:\d+:\d+\)"/);

  const { crashes, alarms } = await sluice.status();
  assert.deepEqual(
    [crashes[0]?.exception, crashes[0]?.class, crashes[0]?.path, crashes[0]?.request],
    [THROWN, 'POST /throw', '/throw', record['request_id']],
  );
  const alarm = alarms.find((one) => one.alarm === 'crash');
  assert.match(
    alarm?.text ?? '',
    /Error: thrown in the handler \(\S+\); with request \S+, POST \/throw of class POST \/throw/,
  );
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="crash"}'), 1);
  const { stdout } = await sluice.cli(['status']);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /crash worker \d+, .* ago: exit code 1: Error: thrown in the handler \(.*throws\.js:\d+:\d+\); POST \/throw/,
  );
  const check = await sluice.cli(['status', '--check']);
  assert.deepEqual([check.code, /alarm crash/.test(check.stdout)], [1, true], check.stdout);
});

void test('of several requests in the worker, the one whose handler threw is named', async (t) => {
  const env = bounds({ alarm_after_s: 1 });
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1, env });
  const held = ask(sluice, '/hold', { method: 'POST', deadlineMs: 60_000 });
  await statusWhen(sluice, ({ requests }) => requests.in_service === 1, 'a request that waits');
  assertRefused(await ask(sluice, '/throw', { method: 'POST' }), 502, 'SLU-WORKER-DIED');
  assertRefused(await held, 502, 'SLU-WORKER-DIED');
  const exit = await logged(sluice, 'worker_exited');
  assert.deepEqual([exit['held'], exit['target'], exit['class']], [2, '/throw', 'POST /throw']);
  await eventually(
    () => sluice.logs.some(({ event, alarm }) => event === 'alarm_cleared' && alarm === 'crash'),
    {
      what: 'the end of the alarm',
    },
  );
});

void test('an exception between two requests is told, and blamed on none', async (t) => {
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1 });
  assert.equal((await ask(sluice, '/throw-after')).status, 200);
  const exit = await logged(sluice, 'worker_exited');
  assert.deepEqual(
    [exit['exception'], exit['held'], exit['request_id'], exit['class']],
    [exceptionAt('Error: thrown between two requests'), 0, null, null],
  );
});

for (const [target, status, expected] of [
  ['/reject', 'exit code 1', exceptionAt('unhandled rejection: Error: rejected')],
  ['/exit-on-rejection', 'exit code 3', exceptionAt('unhandled: Error: the pool is gone')],
] as const)
  void test(`${target}: the status names the rejection that ended the worker, with its place`, async (t) => {
    const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1 });
    assertRefused(await ask(sluice, target, { method: 'POST' }), 502, 'SLU-WORKER-DIED');
    const exit = await logged(sluice, 'worker_exited');
    assert.deepEqual([exit['status'], exit['exception']], [status, expected]);
    const { crashes } = await statusWhen(sluice, (now) => now.crashes.length === 1, 'the crash');
    assert.equal(crashes[0]?.exception, expected);
  });

void test('a rejection with what is no error is told by its value', async (t) => {
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1 });
  assertRefused(await ask(sluice, '/reject-value', { method: 'POST' }), 502, 'SLU-WORKER-DIED');
  const exit = await logged(sluice, 'worker_exited');
  assert.match(
    String(exit['exception']),
    /^unhandled rejection: UnhandledPromiseRejection: rejected with "#<Object>"/,
  );
});

void test('what is told of an exception has no secret of the environment', async (t) => {
  const env = { SHOP_DATABASE_URL: 'postgres://shop:hunter2000@db/shop' };
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1, env });
  assertRefused(await ask(sluice, '/throw-secret', { method: 'POST' }), 502, 'SLU-WORKER-DIED');
  const exit = await logged(sluice, 'worker_exited');
  assert.match(String(exit['exception']), /^Error: no answer from \[SHOP_DATABASE_URL\] \(/);
  await statusWhen(sluice, (now) => now.crashes.length === 1, 'the crash');
  const { stdout } = await sluice.cli(['status']);
  assert.doesNotMatch(stdout, /hunter2000/);
});
