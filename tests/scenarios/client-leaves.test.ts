// A client that leaves while its request is in service: the app sees it as it would alone, and its slot is free when nobody
// can end the response any more.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { Journal } from './journal.ts';
import {
  allReady,
  ask,
  bytesOf,
  ownApp,
  recordOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
  STRICT,
} from './scenario.ts';

/** The same app on Node alone. */
async function alone(context: TestContext, journal: Journal): Promise<number> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(process.execPath, [ownApp('leaves.js')], {
    env: { ...env, ...journal.env, PORT: '0' },
    stdio: 'ignore',
  });
  context.after(() => void child.kill('SIGKILL'));
  await journal.saw('listening', '');
  const line = fs.readFileSync(journal.file, 'utf8').split('\n')[0] ?? '';
  return Number(line.split(' ')[1]);
}

const ways = {
  closes: (connection) => connection.close(),
  resets: (connection) => connection.reset(),
  'closes its side': (connection) => connection.end(),
} satisfies Record<string, (connection: RawConnection) => void>;

async function eventsOf(
  port: number,
  journal: Journal,
  request: { does: string; method: string; name: string; leave: (connection: RawConnection) => void },
): Promise<string[]> {
  const { does, method, name, leave } = request;
  const connection = await RawConnection.connect(port);
  const body = method === 'POST' ? 'x'.repeat(3_000) : '';
  const headers = method === 'POST' ? `Content-Length: ${body.length}\r\n` : '';
  connection.send(bytesOf(`/${does}/${name}`, headers, method) + body);
  await journal.saw(name, method === 'POST' ? 'request-end' : 'begin');
  if (does === 'stream') await connection.untilBytes('part');
  leave(connection);
  await journal.saw(name, 'request-close');
  const events = await journal.saw(name, 'response-close');
  connection.close();
  return events.filter((event) => !event.startsWith('begin'));
}

for (const [how, leave] of Object.entries(ways)) {
  void test(`the app sees what it would see alone of a client that ${how}`, async (t) => {
    const [here, there] = [new Journal(t), new Journal(t)];
    const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env: here.env });
    const port = await alone(t, there);
    for (const method of ['GET', 'POST']) {
      for (const does of ['wait', 'stream', 'events']) {
        const request = { does, method, name: `${does}-${method}`, leave };
        const expected = await eventsOf(port, there, request);
        assert.ok(expected.includes('response-close:finished=false'), expected.join());
        assert.deepEqual(await eventsOf(sluice.port, here, request), expected, `${method} /${does}`);
      }
    }
  });
}

void test('an app that stops without end() when its client leaves keeps its worker, which is free soon', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env: journal.env });
  for (const does of ['wait', 'stream']) {
    for (const [index, leave] of [...Object.values(ways), ...Object.values(ways)].entries()) {
      const name = `${does}-${index}`;
      const connection = await sent(sluice, `/${does}/${name}`);
      await journal.saw(name, 'begin');
      leave(connection);
      await journal.saw(name, 'response-close');
      // Far less than what is waited for an app that still holds its response.
      assert.equal((await ask(sluice, '/sync/after', { deadlineMs: 15_000 })).status, 200);
    }
  }
  await statusWhen(sluice, (now) => slotsHeld(now) === 0 && now.connections === 0, 'nothing left');
  const { workers } = await allReady(sluice, 1);
  assert.equal(workers[0]?.restarts_total, 0);
  assert.equal((await recordOf(sluice, '/wait/wait-0'))['outcome'], 'client_gone_in_service');
});

void test('I1: the slot stays in use while the app computes for a client that has left', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, {
    entry: ownApp('leaves.js'),
    workers: 1,
    env: journal.env,
    flags: STRICT,
  });
  for (const [index, leave] of Object.values(ways).entries()) {
    const connection = await sent(sluice, `/computes/it-${index}`);
    await journal.saw(`it-${index}`, 'begin');
    leave(connection);
    await journal.saw(`it-${index}`, 'response-close');
    const answer = await ask(sluice, '/sync/next');
    assert.equal(answer.status, 200);
    assert.ok(journal.of(`it-${index}`).includes('computed'), 'the next request came before the end');
  }
  assert.equal((await sluice.status()).overlaps_total, 0);
});

void test('I1: a response that the app never ends keeps its slot, and its worker is replaced at last', async (t) => {
  const journal = new Journal(t);
  const env = {
    ...journal.env,
    SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '3000',
    SLUICE_WORKERS_STOP_TIMEOUT_MS: '500',
    SLUICE_QUEUE_WAIT_MS_MAX: '60000',
  };
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env, flags: STRICT });
  const connection = await sent(sluice, '/keeps/it');
  const [begin = ''] = await journal.saw('it', 'begin');
  const left = performance.now();
  connection.close();
  await journal.saw('it', 'response-close');
  const next = await ask(sluice, '/sync/next', { deadlineMs: 60_000 });
  assert.ok(performance.now() - left >= 3_000, 'nobody but the app knew that it was over');
  assert.equal(next.status, 200);
  assert.notEqual(`begin:${next.body.toString().trim()}`, begin);
});

void test('a client that closes its side gets what the app answers at once, as alone', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env: journal.env });
  for (const version of ['1.1', '1.0']) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(`GET /sync/a HTTP/${version}\r\nHost: app\r\n\r\n`);
    connection.end();
    assert.equal((await connection.response()).status, 200);
  }
  // Pipelined: the second is asked for when the first has been answered, and both before the end is seen.
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/sync/a') + bytesOf('/sync/b') + bytesOf('/wait/c') + bytesOf('/sync/d'));
  connection.end();
  for (let index = 0; index < 2; index++) assert.equal((await connection.response()).status, 200);
  assert.equal((await connection.untilClosed()).length, 0);
  await journal.saw('c', 'response-close');
});

void test('an app that has read a large body sees its client leave', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env: journal.env });
  const connection = await RawConnection.connect(sluice.port);
  const body = 'x'.repeat(100_000);
  connection.send(`${bytesOf('/wait/large', `Content-Length: ${body.length}\r\n`, 'POST')}${body}`);
  await journal.saw('large', 'request-end');
  connection.close();
  await journal.saw('large', 'response-close');
  assert.equal((await ask(sluice, '/sync/after')).status, 200);
});

void test('I1: clients that leave at any moment leave no slot, request or connection in use', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 2, env: journal.env });
  const does = ['sync', 'computes', 'wait', 'stream'];
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const connection = await sent(sluice, `/${does[index % does.length]}/any-${index}`);
      await new Promise((resolve) => setTimeout(resolve, index * 7));
      Object.values(ways)[index % 3]?.(connection);
      await new Promise((resolve) => setTimeout(resolve, 500));
      connection.close();
    }),
  );
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'free slots', 60_000);
  const { workers, overlaps_total } = await allReady(sluice, 2);
  assert.deepEqual([overlaps_total, ...workers.map((worker) => worker.restarts_total)], [0, 0, 0]);
});
