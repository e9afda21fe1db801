// Threads for connections: what clients, operators and the log see is what they see with one thread.
// A fault can be injected only into a binary with debug assertions, as `make test` builds it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import type { Sluice } from '../support/sluice.ts';
import {
  ask,
  bytesOf,
  Hold,
  nothingLeftOf,
  ownApp,
  recordOf,
  running,
  sent,
  statusWhen,
} from './scenario.ts';
import { upgraded } from './upgrades.ts';

const TWO = { SLUICE_SERVER_FRONTS: '2' };

/** Nanoseconds that each front has run, by the name of its thread. */
function ranNs(pid: number): Map<string, number> {
  const ran = new Map<string, number>();
  for (const id of fs.readdirSync(`/proc/${pid}/task`)) {
    const name = fs.readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim();
    const [ns] = fs.readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ');
    if (name.startsWith('front-')) ran.set(name, Number(ns));
  }
  return ran;
}

async function answeredByFronts(sluice: Sluice): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(/^sluice_front_answers_total (\d+)$/m.exec(page)?.[1]);
}

void describe('fronts', { concurrency: 2 }, () => {
  void test('connections are spread over the fronts, and one front is none', async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 1, env: { ...hold.env, ...TWO } });
    const before = ranNs(await sluice.gatewayPid());
    assert.deepEqual([...before.keys()].toSorted(), ['front-1', 'front-2']);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(sluice, `/page/${index}`)),
    );
    assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
    const ran = ranNs(await sluice.gatewayPid());
    for (const [name, ns] of before) assert.ok((ran.get(name) ?? 0) > ns, `${name} has served none`);
    const alone = await running(t, {
      entry: hold.app,
      workers: 1,
      env: { ...hold.env, SLUICE_SERVER_FRONTS: '1' },
    });
    assert.equal(ranNs(await alone.gatewayPid()).size, 0);
  });

  void test('I3: what every front has is finished, and idle connections close, when the gateway leaves', async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 4, env: { ...hold.env, ...TWO } });
    const busy = await Promise.all([1, 2, 3, 4].map((index) => sent(sluice, `/hold/${index}`)));
    await Promise.all([1, 2, 3, 4].map((index) => hold.began(`/hold/${index}`)));
    const idle = await Promise.all([1, 2, 3, 4].map((index) => sent(sluice, `/${index}`)));
    for (const index of [1, 2, 3, 4]) hold.release(String(index));
    for (const client of idle) assert.equal((await client.response()).status, 200);
    await statusWhen(sluice, ({ requests }) => requests.in_service === 0, 'no request');
    const last = await sent(sluice, '/hold/last');
    await hold.began('/hold/last');
    sluice.signal('SIGTERM');
    await eventually(() => [...busy, ...idle].every((client) => client.closed), {
      what: 'the end of idle connections',
    });
    hold.release('last');
    const answer = await last.response();
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close']);
    assert.equal((await sluice.finished()).code, 0);
    await nothingLeftOf(sluice);
  });

  void test('an upgrade moves the port to another gateway, and the fronts of the first finish', async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 2, env: { ...hold.env, ...TWO } });
    const old = await Promise.all([1, 2].map((index) => sent(sluice, `/hold/${index}`)));
    await Promise.all([1, 2].map((index) => hold.began(`/hold/${index}`)));
    const pid = await upgraded(sluice);
    assert.equal(ranNs(pid).size, 2, 'the new gateway has fronts of its own');
    assert.equal((await ask(sluice, '/new')).status, 200);
    for (const index of [1, 2]) hold.release(String(index));
    for (const client of old) assert.equal((await client.response()).status, 200);
  });

  void test('a client that is killed in the middle of its answer is seen, and leaves nothing', async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 1, env: { ...hold.env, ...TWO } });
    const first = await sent(sluice, '/hold/first');
    await hold.began('/hold/first');
    const leavers = [first, await sent(sluice, '/queued')];
    await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a queued request');
    for (const client of leavers) client.reset();
    await statusWhen(sluice, ({ queue, connections }) => queue.length + connections === 0, 'no client');
    hold.release('first');
    assert.equal((await recordOf(sluice, '/hold/first'))['outcome'], 'client_gone_in_service');
    assert.equal((await recordOf(sluice, '/queued'))['outcome'], 'client_gone_queued');
    assert.equal((await ask(sluice, '/next')).status, 200);
  });

  void test('I7: fronts answer with kept pages while every worker is busy, and with none that is purged', async (t) => {
    const config = '[cache]\nenabled = true\n';
    const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, env: TWO, config });
    const page = '/page?cc=s-maxage%3D600';
    const first = (await ask(sluice, page)).body.toString();
    // The core grants each front the page with the first hit there, so one of them has it after three.
    for (let hit = 0; hit < 4; hit++) assert.equal((await ask(sluice, page)).body.toString(), first);
    const before = await answeredByFronts(sluice);
    const slow = await sent(sluice, '/page?ms=4000');
    await statusWhen(sluice, ({ requests }) => requests.in_service === 1, 'a busy worker');
    for (const hit of await Promise.all(Array.from({ length: 40 }, () => ask(sluice, page)))) {
      assert.deepEqual([hit.status, hit.body.toString()], [200, first]);
      assert.match(String(hit.headers.get('cache-status')), /^Sluice; hit; ttl=\d+$/);
      assert.match(String(hit.headers.get('age')), /^\d+$/);
    }
    await eventually(async () => (await answeredByFronts(sluice)) >= before + 10, {
      what: 'answers that the core has only taken note of',
    });
    assert.equal((await slow.response()).status, 200);
    assert.equal((await sluice.cli(['cache', 'purge', '--all'])).code, 0);
    const second = (await ask(sluice, page)).body.toString();
    assert.notEqual(second, first);
    for (let hit = 0; hit < 4; hit++) assert.equal((await ask(sluice, page)).body.toString(), second);
    const lines = sluice.logs.filter((line) => line['target'] === page);
    assert.deepEqual(
      [...new Set(lines.map((line) => `${String(line['cache'])} ${String(line['status'])}`))].toSorted(),
      ['hit 200', 'miss 200'],
    );
  });

  void test('a front that is lost is told with its place, what others have is finished, and the gateway leaves with 6', async (t) => {
    const hold = new Hold(t);
    const trigger = path.join(hold.dir, 'trigger');
    const switched = { SLUICE_TEST_PANIC_IN: `front-1:${trigger}`, SLUICE_DRAIN_DELAY_MS: '4000' };
    const env = { ...hold.env, ...TWO, ...switched };
    const sluice = await running(t, { entry: hold.app, workers: 3, env });
    const clients = [await sent(sluice, '/hold/1'), await sent(sluice, '/hold/2')];
    await Promise.all([1, 2].map((index) => hold.began(`/hold/${index}`)));
    fs.writeFileSync(trigger, '');
    await eventually(() => sluice.logs.some((line) => line['event'] === 'task_lost'), {
      what: 'the line that names the lost front',
    });
    // Until it stops to accept, the front that is left has all new connections.
    for (const index of [3, 4, 5]) assert.equal((await ask(sluice, `/${index}`)).status, 200);
    for (const index of [1, 2]) hold.release(String(index));
    const answers = await Promise.all(
      clients.map(async (client) =>
        client.response().then(
          ({ status }) => status,
          () => 'closed',
        ),
      ),
    );
    assert.deepEqual(answers.map(String).toSorted(), ['200', 'closed']);
    assert.equal((await sluice.finished()).code, 6);
    const [lost] = sluice.logs.filter((line) => line['event'] === 'task_lost');
    assert.equal(lost?.['task'], 'front');
    assert.match(String(lost?.['place']), /tasks\.rs:\d+:\d+$/);
    await nothingLeftOf(sluice);
  });

  void test('a core that hears its fronts no more finishes what it has, breaks off the rest, and leaves with 6', async (t) => {
    const hold = new Hold(t);
    const trigger = path.join(hold.dir, 'trigger');
    const switched = { SLUICE_TEST_PANIC_IN: `fronts:${trigger}`, SLUICE_DRAIN_TIMEOUT_MS: '3000' };
    // Long enough that no drain closes the connection.
    const delay = { SLUICE_DRAIN_DELAY_MS: '6000' };
    const env = { ...hold.env, ...TWO, ...switched, ...delay };
    const sluice = await running(t, { entry: hold.app, workers: 1, env });
    const [held, kept] = [await sent(sluice, '/hold/1'), await RawConnection.connect(sluice.port)];
    await hold.began('/hold/1');
    fs.writeFileSync(trigger, '');
    await eventually(() => sluice.logs.some((line) => line['event'] === 'task_lost'), {
      what: 'the lost task',
    });
    kept.send(bytesOf('/nobody-hears-it'));
    await eventually(() => kept.closed, {
      deadlineMs: 4_000,
      what: 'the end of a connection whose request nobody takes',
    });
    hold.release('1');
    assert.equal((await held.response()).status, 200);
    assert.equal((await sluice.finished()).code, 6);
    await nothingLeftOf(sluice);
  });
});
