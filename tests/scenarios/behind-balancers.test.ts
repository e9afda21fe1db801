// Three instances behind real balancers, with the configurations of examples/behind: nobody notices that one drains, dies or stands still,
// and a request that an app has seen is never sent again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Fleet, get, Load, missing } from '../support/fleet.ts';
import { app } from '../support/sluice.ts';
import { end, statusWhen } from './scenario.ts';

// The balancers look every half a second to a second.
const env = { SLUICE_DRAIN_DELAY_MS: '2000' };

void test(
  'HAProxy: a drain, a stop and a rolling restart of all lose nothing',
  { skip: missing('haproxy') },
  async (t) => {
    const fleet = await Fleet.start(t, { env, end });
    const port = await fleet.balance('haproxy');
    const load = new Load(port);
    await load.more(100);
    for (const { name } of fleet.instances) assert.ok(load.of(name) > 0, `${name} gets requests`);

    const { sluice } = fleet.instance('a');
    sluice.signal('SIGTERM');
    await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
    await sluice.finished();
    const before = load.of('a');
    await load.more(100);
    assert.equal(load.of('a'), before, 'nothing more comes from the one that has left');
    await fleet.restart('a');
    await eventually(() => load.of('a') > before, {
      deadlineMs: 20_000,
      what: 'requests for the one that is back',
    });

    // It stands still, and goes on.
    const pid = await fleet.instance('b').sluice.gatewayPid();
    process.kill(pid, 'SIGSTOP');
    await load.more(300);
    process.kill(pid, 'SIGCONT');
    const stood = load.of('b');
    await eventually(() => load.of('b') > stood + 10, {
      deadlineMs: 20_000,
      what: 'requests for the one that goes on',
    });

    for (const { name } of fleet.instances) {
      const instance = fleet.instance(name).sluice;
      instance.signal('SIGTERM');
      await instance.finished();
      await fleet.restart(name);
      const since = load.of(name);
      await eventually(() => load.of(name) > since, { deadlineMs: 20_000, what: `requests for ${name}` });
    }
    await load.stop();
    assert.deepEqual(load.failures, []);
    assert.deepEqual(fleet.twice, []);
  },
);

void test('HAProxy: a killed instance costs no safe request', { skip: missing('haproxy') }, async (t) => {
  const fleet = await Fleet.start(t, { env, end });
  const load = new Load(await fleet.balance('haproxy'), { posts: false });
  await load.more(100);
  await fleet.instance('c').sluice.kill9();
  await load.more(300);
  await load.stop();
  assert.deepEqual(load.failures, []);
});

for (const program of ['haproxy', 'nginx', 'envoy'] as const) {
  const title = `${program}: a request that no worker has seen goes elsewhere, and one that a worker has seen does not`;
  void test(title, { skip: missing(program) }, async (t) => {
    // One place in the queue and one in the worker: the third request of an instance is refused.
    const fleet = await Fleet.start(t, {
      env: { ...env, SLUICE_QUEUE_LENGTH_MAX: '1', SLUICE_WORKERS_CONCURRENCY: '1' },
      end,
    });
    const port = await fleet.balance(program);
    const { port: full, sluice } = fleet.instance('a');
    const held = [get(full, '/first?wait=3000'), get(full, '/second')];
    await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a full queue');
    for (let number = 0; number < 9; number++) {
      const { status, instance } = await get(port, `/post/${number}`, { method: 'POST', body: 'x' });
      assert.deepEqual([status, instance === 'a'], [200, false], 'it finds an instance that has room');
    }
    await eventually(() => sluice.logs.some((line) => line['error'] === 'SLU-QUEUE-FULL'), {
      what: 'a refusal of the full instance, which was asked first at times',
    });
    for (let number = 0; number < 3; number++) {
      const { status } = await get(port, `/post/503/${number}`, { method: 'POST', body: 'x' });
      assert.equal(status, 503, 'the answer of the app');
    }
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      [200, 200],
    );
    assert.deepEqual(fleet.twice, []);
  });
}

for (const program of ['haproxy', 'nginx', 'envoy'] as const) {
  void test(`${program}: no client forges its origin`, { skip: missing(program) }, async (t) => {
    const fleet = await Fleet.start(t, { entry: app('echo.js'), env, end });
    const port = await fleet.balance(program);
    const forged = {
      'X-Forwarded-For': '6.6.6.6',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'forged.test',
      'X-Forwarded-Port': '666',
      Forwarded: 'for=6.6.6.6;proto=https;host=forged.test',
      'X-Real-IP': '6.6.6.6',
      'X-Request-Id': 'forged',
    };
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: forged });
    const { headers } = (await response.json()) as { headers: Record<string, string> };
    assert.equal(headers['x-forwarded-proto'], 'http');
    const told = ['forwarded', 'x-forwarded-host', 'x-forwarded-port', 'x-real-ip', 'x-request-id'];
    for (const name of told) assert.doesNotMatch(headers[name] ?? '', /6\.6\.6\.6|https|forged|666/, name);
    // Envoy writes the machine's address for a client on it.
    const last = (headers['x-forwarded-for'] ?? '').split(',').at(-1);
    assert.match(last ?? '', /^(?!\s*6\.6\.6\.6).+/, 'the balancer has the last word');
  });
}
