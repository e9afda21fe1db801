// Upgrades that the app answers late, with an ordinary response, or never: they hold no slot while it does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { RawConnection } from '../support/raw.ts';
import { Journal } from './journal.ts';
import {
  allReady,
  ask,
  assertRefused,
  bytesOf,
  ownApp,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

const upgrade = 'Connection: Upgrade\r\nUpgrade: echo\r\n';
const takes = { TAKES_UPGRADES: '1' };

void test('I1: unanswered upgrades do not affect others, and end with their clients', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, {
    entry: ownApp('leaves.js'),
    workers: 1,
    env: { ...journal.env, ...takes },
  });
  const names = Array.from({ length: 6 }, (_, index) => `open-${index}`);
  const connections: RawConnection[] = [];
  for (const name of names) {
    connections.push(await sent(sluice, `/upgrade/${name}`, upgrade));
    // On a connection of its own, even right behind another request.
    assert.deepEqual((await journal.saw(name, 'written')).slice(1), ['written:0']);
    assert.equal((await ask(sluice, '/sync/other', { deadlineMs: 5_000 })).status, 200);
  }
  await statusWhen(
    sluice,
    (now) => now.streams === names.length && slotsHeld(now) === 0,
    'streams without a slot',
  );
  for (const [index, connection] of connections.entries()) {
    if (index % 3 === 0) connection.close();
    else if (index % 3 === 1) connection.reset();
    else connection.end();
  }
  for (const name of names) await journal.saw(name, 'socket-close');
  const { workers } = await statusWhen(
    sluice,
    (now) => now.streams === 0 && now.connections === 0,
    'nothing left',
  );
  assert.equal(workers[0]?.restarts_total, 0);
});

void test('a late answer to an upgrade reaches the client, whatever it is', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, {
    entry: ownApp('leaves.js'),
    workers: 1,
    env: { ...journal.env, ...takes },
  });
  const refused = await sent(sluice, '/refuse/a', upgrade);
  const accepted = await sent(sluice, '/accept/b', upgrade);
  const response = await refused.response();
  assert.deepEqual([response.status, response.body.toString()], [400, 'never']);
  assert.equal((await accepted.response()).status, 101);
  await accepted.untilBytes('hello');
  await statusWhen(sluice, (now) => now.streams === 0, 'the end of both');
});

void test('an upgrade that nobody answers has a deadline, and streams have their limit', async (t) => {
  const journal = new Journal(t);
  const env = { SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '4000', ...bounds({ streams_per_worker_max: 2 }) };
  const sluice = await running(t, {
    entry: ownApp('leaves.js'),
    workers: 1,
    env: { ...env, ...journal.env, ...takes },
  });
  const open = [await sent(sluice, '/upgrade/a', upgrade), await sent(sluice, '/upgrade/b', upgrade)];
  await statusWhen(sluice, (now) => now.streams === 2, 'two streams');
  const third = await sent(sluice, '/upgrade/c', upgrade);
  assertRefused(await third.response(), 503, 'SLU-STREAMS-FULL');
  for (const connection of open) assertRefused(await connection.response(), 504, 'SLU-WORKER-TIMEOUT');
  for (const name of ['a', 'b', 'c']) await journal.saw(name, 'socket-close');
  await statusWhen(sluice, (now) => now.streams === 0 && slotsHeld(now) === 0, 'nothing left');
});

void test('an upgrade to an app that takes none is an ordinary request', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, { entry: ownApp('leaves.js'), workers: 1, env: journal.env });
  for (let round = 0; round < 3; round++) {
    assert.equal((await ask(sluice, '/sync/a', { headers: upgrade })).status, 200);
    assert.equal((await ask(sluice, '/sync/a')).status, 200);
  }
  // It holds its slot, and gives it back when its client leaves.
  const connection = await sent(sluice, '/wait/it', upgrade);
  await journal.saw('it', 'begin');
  await statusWhen(sluice, (now) => slotsHeld(now) === 1 && now.streams === 0, 'a slot in use');
  connection.close();
  await journal.saw('it', 'response-close');
  assert.equal((await ask(sluice, '/sync/b')).status, 200);
});

void test('an upgrade and what follows it in the same breath', async (t) => {
  const journal = new Journal(t);
  const sluice = await running(t, {
    entry: ownApp('leaves.js'),
    workers: 1,
    env: { ...journal.env, ...takes },
  });
  for (let round = 0; round < 50; round++) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(`/upgrade/round-${round}`, upgrade));
    if (round % 2 === 0) connection.reset();
    else connection.close();
  }
  await statusWhen(sluice, (now) => now.streams === 0 && slotsHeld(now) === 0, 'nothing left');
  const { workers } = await allReady(sluice, 1);
  assert.equal(workers[0]?.restarts_total, 0);
});
