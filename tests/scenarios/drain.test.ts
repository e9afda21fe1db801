// SIGTERM: nothing new, everything accepted is finished, then the gateway leaves. A second signal ends it at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { Journal } from './journal.ts';
import {
  ask,
  bytesOf,
  Hold,
  gone,
  nothingLeftOf,
  ownApp,
  pidOf,
  refuses,
  running,
  sent,
  statusWhen,
} from './scenario.ts';

for (const how of ['SIGTERM', 'SIGINT', 'sluice stop'] as const) {
  void test(`I3: ${how} lets what is in service and what is queued finish`, async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
    const clients = [await sent(sluice, '/hold/first')];
    await hold.began('/hold/first');
    for (let index = 0; index < 3; index++) clients.push(await sent(sluice, `/queued/${index}`));
    await statusWhen(sluice, ({ queue }) => queue.length === 3, 'three queued requests');
    const stopped = how === 'sluice stop' ? sluice.cli(['stop']) : undefined;
    if (how !== 'sluice stop') sluice.signal(how);
    await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
    // The state is told at once, and the port closes in the next step.
    await eventually(() => refuses(sluice), { what: 'the end of the port' });
    hold.release('first');
    for (const client of clients) {
      const response = await client.response();
      assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
      await client.untilClosed();
    }
    assert.equal((await sluice.finished()).code, 0);
    if (stopped !== undefined) assert.equal((await stopped).code, 0);
    await nothingLeftOf(sluice);
  });
}

void test('a drain ends idle connections at once and answers a request that is being received', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const idle = await sent(sluice, '/');
  await idle.response();
  const sending = await RawConnection.connect(sluice.port);
  sending.send(bytesOf('/upload', 'Content-Length: 10\r\n', 'POST') + 'half ');
  await statusWhen(sluice, ({ connections }) => connections === 2, 'both connections');
  sluice.signal('SIGTERM');
  assert.equal((await idle.untilClosed()).length, 0);
  sending.send('done.');
  const response = await sending.response();
  assert.deepEqual([response.body.toString(), response.headers.get('connection')], ['10\n', 'close']);
  assert.equal((await sluice.finished()).code, 0);
});

void test('a drain lets a response that streams come to its end', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const client = await sent(sluice, '/stream?chunks=20&interval_ms=30&bytes=100');
  await client.untilBytes('x');
  sluice.signal('SIGTERM');
  const rest = (await client.untilClosed()).toString('latin1');
  assert.ok(rest.endsWith('0\r\n\r\n'), 'the last chunk came');
  assert.equal((await sluice.finished()).code, 0);
});

void test('a drain ends after drain.timeout_ms, whatever still runs', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '300', SLUICE_WORKERS_STOP_TIMEOUT_MS: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const client = await sent(sluice, '/hold/never');
  await hold.began('/hold/never');
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished(10_000)).code, 1);
  client.close();
  await nothingLeftOf(sluice);
});

void test('what a drain cuts off has its line in the log, whatever it waited for', async (t) => {
  const entry = ownApp('drained.js');
  const sluice = await running(t, { entry, workers: 1, env: { SLUICE_DRAIN_TIMEOUT_MS: '300' } });
  const sender = await RawConnection.connect(sluice.port);
  sender.send('POST /sent HTTP/1.1\r\nHost: app\r\nContent-Length: 100000\r\n\r\nabc');
  const reader = await RawConnection.connect(sluice.port);
  reader.pause();
  reader.send(bytesOf('/read'));
  await statusWhen(sluice, ({ connections }) => connections >= 2, 'both connections');
  sluice.signal('SIGTERM');
  const { code } = await sluice.finished();
  assert.equal(code, 1);
  const lines = ['/sent', '/read'].map((path) => sluice.logs.find(({ target }) => target === path));
  assert.deepEqual(
    lines.map((line) => [line?.['error'], line?.['outcome']]),
    [
      ['SLU-DRAINING', 'timed_out'],
      ['SLU-DRAINING', 'timed_out'],
    ],
  );
  sender.close();
  reader.close();
});

void test('with drain.delay_ms readiness says no while new connections are still served', async (t) => {
  const env = { SLUICE_DRAIN_DELAY_MS: '2000' };
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env });
  const kept = await sent(sluice, '/');
  assert.equal((await kept.response()).status, 200);
  sluice.signal('SIGTERM');
  await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
  assert.equal((await ask(sluice, '/.sluice/ready')).status, 503);
  const answer = await ask(sluice, '/');
  assert.equal(answer.status, 200);
  kept.send(bytesOf('/'));
  const again = await kept.response();
  assert.deepEqual([again.status, again.headers.get('connection')], [200, undefined]);
  assert.equal((await sluice.finished()).code, 0);
  await kept.untilClosed();
  await nothingLeftOf(sluice);
});

void test('a second signal ends the delay of a drain at once', async (t) => {
  const env = { SLUICE_DRAIN_DELAY_MS: '60000' };
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env });
  sluice.signal('SIGTERM');
  await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
  const again = setInterval(() => {
    sluice.signal('SIGTERM');
  }, 200);
  t.after(() => {
    clearInterval(again);
  });
  assert.equal((await sluice.finished(3_000)).code, 1);
});

void test('a second signal ends it at once, with a worker in an endless loop', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  const client = await sent(sluice, '/block');
  const busy = await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a busy worker');
  sluice.signal('SIGTERM');
  await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
  // One Ctrl-C may be delivered twice, by npm and by the terminal; so what comes right behind the first does not count.
  const again = setInterval(() => {
    sluice.signal('SIGTERM');
  }, 200);
  t.after(() => {
    clearInterval(again);
  });
  assert.equal((await sluice.finished(3_000)).code, 1);
  await nothingLeftOf(sluice);
  await gone([pidOf(busy.workers[0])]);
  client.close();
});

void test('a worker that ignores SIGTERM in an endless loop is killed after workers.stop_timeout_ms', async (t) => {
  const env = { SLUICE_DRAIN_TIMEOUT_MS: '200', SLUICE_WORKERS_STOP_TIMEOUT_MS: '300' };
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1, env });
  const client = await sent(sluice, '/block');
  await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a busy worker');
  sluice.signal('SIGTERM');
  await sluice.finished(5_000);
  await nothingLeftOf(sluice);
  client.close();
});

for (const method of ['GET', 'POST'])
  void test(`a drain does not wait for a ${method} whose client has left`, async (t) => {
    const journal = new Journal(t);
    const env = { ...journal.env, SLUICE_DRAIN_TIMEOUT_MS: '600000' };
    const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 2, env });
    const client = await RawConnection.connect(sluice.port);
    client.send(bytesOf('/keeps/it', '', method));
    await journal.saw('it', 'begin');
    client.close();
    await journal.saw('it', 'response-close');
    sluice.signal('SIGTERM');
    // Whoever waited for something got it.
    assert.equal((await sluice.finished(20_000)).code, 0);
    const notes = sluice.logs.filter(({ text }) => String(text).includes('whose client has left'));
    assert.equal(notes.length, 1);
    assert.match(
      String(notes[0]?.['text']),
      new RegExp(`^worker \\d+ still works on ${method} /keeps/it \\(request `),
    );
    await nothingLeftOf(sluice);
  });

void test('a handler of SIGTERM has its time in a drain, although the client of the request has left', async (t) => {
  const journal = new Journal(t);
  const env = { ...journal.env, SLUICE_DRAIN_TIMEOUT_MS: '600000' };
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env });
  const client = await RawConnection.connect(sluice.port);
  client.send(bytesOf('/flushes/it'));
  await journal.saw('it', 'begin');
  client.close();
  await journal.saw('it', 'response-close');
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished(20_000)).code, 0);
  await journal.saw('it', 'flushed');
  const exit = sluice.logs.find(({ event }) => event === 'worker_exited');
  assert.notEqual(exit?.['reason'], 'client_gone');
});

void test('a drain kills a worker that does not exit, if the clients of its requests have left', async (t) => {
  const env = { SLUICE_DRAIN_TIMEOUT_MS: '600000', SLUICE_WORKERS_STOP_TIMEOUT_MS: '6000' };
  const sluice = await running(t, { entry: ownApp('deaf.js'), workers: 1, env });
  const client = await sent(sluice, '/block');
  await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a busy worker');
  // One that closes its side alone may still read, and the worker does not look.
  client.reset();
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished(20_000)).code, 0);
  const exit = sluice.logs.find(({ event }) => event === 'worker_exited');
  assert.deepEqual([exit?.['reason'], exit?.['expected']], ['client_gone', true]);
  await nothingLeftOf(sluice);
});

void test('a drain waits for a client beside one that has left', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '600000' };
  const sluice = await running(t, { entry: hold.app, workers: 2, env });
  const [stays, leaves] = [await sent(sluice, '/hold/stays'), await sent(sluice, '/hold/leaves')];
  await Promise.all([hold.began('/hold/stays'), hold.began('/hold/leaves')]);
  leaves.close();
  sluice.signal('SIGTERM');
  await eventually(() => refuses(sluice), { what: 'the end of the port' });
  await statusWhen(
    sluice,
    ({ connections }) => connections === 1,
    'the end of the connection that was closed',
  );
  hold.release('stays');
  assert.equal((await stays.response()).status, 200);
  stays.close();
  assert.equal((await sluice.finished(20_000)).code, 0);
});
