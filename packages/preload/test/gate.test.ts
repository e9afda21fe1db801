import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeGateway, type Line } from './fake-gateway.js';

const doneIds = (lines: readonly Line[]): Line[] =>
  lines.filter(({ type }) => type === 'done').flatMap((line) => line['requests'] as Line[]);

test('I1_requests_of_two_connections_are_served_in_turn', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    const asks = Array.from({ length: 60 }, (_, index) =>
      gateway.ask({
        path: index % 3 === 0 ? '/sync?ms=3' : '/async?ms=3',
        method: 'POST',
        body: 'x'.repeat(index * 500),
      }),
    );
    for (const { status } of await Promise.all(asks)) assert.equal(status, 200);
    const last = await gateway.askJson();
    assert.deepEqual([last['held'], last['overlaps'], last['served']], [0, 0, 61]);
    await gateway.until('61 done', () => doneIds(gateway.lines).length === 61);
    const beat = await gateway.line('beat', (line) => Number(line['cpu_us_total']) > 0);
    assert.equal(beat['overlaps_total'], 0);
  } finally {
    await gateway.stop();
  }
});

test('concurrency above one lets that many in, and the test can see an overlap', async () => {
  const gateway = await FakeGateway.serve('gate.cjs', { concurrency: 2 });
  try {
    await Promise.all(Array.from({ length: 8 }, () => gateway.ask({ path: '/async?ms=10' })));
    assert.ok(Number((await gateway.askJson())['overlaps']) > 0);
  } finally {
    await gateway.stop();
  }
});

test('I1_a_lost_connection_frees_no_slot_until_the_app_ends_its_response', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    const first = gateway.raw();
    first.write(
      `GET /close-then-end?ms=150 HTTP/1.1\r\nhost: a\r\nx-sluice-request: ${gateway.label()}\r\n\r\n`,
    );
    await gateway.printed('waiting');
    first.destroy();
    const answer = await gateway.askJson({ path: '/next' });
    const endedLate = await gateway.printed('endedLate');
    const nextStarted = await gateway.printed('nextStarted');
    assert.ok(Number(endedLate) <= Number(nextStarted));
    assert.equal(answer['overlaps'], 0);
  } finally {
    await gateway.stop();
  }
});

test('a request whose connection closed while it waited never reaches the app', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    const slow = gateway.ask({ path: '/async?ms=150' });
    const gone = gateway.raw();
    gone.write(`GET /gone HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=99\r\n\r\n`);
    await pause(20);
    gone.destroy();
    await slow;
    assert.equal((await gateway.askJson())['served'], 2);
    const done = await gateway.until('done 99', () =>
      doneIds(gateway.lines).find((line) => line['id'] === 99),
    );
    assert.equal(done['left'], 'abandoned');
  } finally {
    await gateway.stop();
  }
});

test('a request behind a response that is sent and not ended goes back to the gateway unseen', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    const connection = gateway.raw();
    let text = '';
    connection.on('data', (part) => (text += part));
    connection.write('GET /late-end?ms=150 HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=41\r\n\r\n');
    await gateway.until('the whole response', () => text.endsWith('whole'));
    connection.write('GET /behind HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=42\r\n\r\n');
    const busy = await gateway.line('busy');
    assert.deepEqual([busy['id'], busy['by']], [42, 41]);
    await gateway.until('done 41', () => doneIds(gateway.lines).find((line) => line['id'] === 41));
    connection.destroy();
    assert.equal((await gateway.askJson())['served'], 2);
    assert.ok(!doneIds(gateway.lines).some((line) => line['id'] === 42));
  } finally {
    await gateway.stop();
  }
});

test('an upgrade that goes back to the gateway leaves no socket behind', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    const connection = gateway.raw();
    let text = '';
    connection.on('data', (part) => (text += part));
    connection.write('GET /late HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=51\r\n\r\n');
    await gateway.until('the whole response', () => text.endsWith('whole'));
    connection.write(
      'GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\nx-sluice-request: id=52\r\n\r\n',
    );
    await gateway.line('busy', (line) => line['id'] === 52);
    let isClosed = false;
    connection.on('close', () => (isClosed = true)).end();
    await gateway.until('the end of the connection', () => isClosed);
  } finally {
    await gateway.stop();
  }
});

test("idle connections outlive the app's keepAliveTimeout", async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const first = await gateway.ask({ agent });
    assert.equal(first.headers['keep-alive'], undefined);
    const [socket] = Object.values(agent.freeSockets).flat();
    await pause(300);
    assert.equal(socket?.destroyed, false);
    await gateway.ask({ agent });
    assert.equal(Object.values(agent.freeSockets).flat()[0], socket);
  } finally {
    agent.destroy();
    await gateway.stop();
  }
});

test('done reports the CPU time of each request', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    await gateway.ask({ path: '/sync?ms=80', label: 'id=1001' });
    await gateway.ask({ path: '/async?ms=40', label: 'id=1002' });
    const find = (id: number) =>
      gateway.until(`done ${id}`, () => doneIds(gateway.lines).find((line) => line['id'] === id));
    const busy = await find(1001);
    const idle = await find(1002);
    assert.ok(Number(busy['cpu_us']) > 70_000, JSON.stringify(busy));
    assert.ok(Number(idle['cpu_us']) < Number(busy['cpu_us']), JSON.stringify(idle));
  } finally {
    await gateway.stop();
  }
});
