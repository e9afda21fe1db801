import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

test('process.send reaches the gateway, also what was said before listen()', async () => {
  const gateway = await FakeGateway.serve('messages.cjs');
  try {
    await gateway.line('send', ({ message }) => message === 'ready');
    const said = gateway.lines.filter(({ type }) => type === 'send').map(({ message }) => message);
    assert.deepEqual(said, [{ early: true }, 'ready']);
    assert.equal(gateway.lines[0]?.type, 'hello');
    assert.equal(await gateway.printed('connected'), true);
    assert.equal(await gateway.printed('sent'), null);
  } finally {
    await gateway.stop();
  }
});

test("'shutdown' arrives as a message, closing is announced, and a listener keeps nothing alive", async () => {
  const gateway = await FakeGateway.serve('messages.cjs');
  try {
    await gateway.ask();
    await gateway.line('hears-messages');
    gateway.tell('shutdown');
    assert.equal(await gateway.printed('message'), 'shutdown');
    await gateway.line('closing');
    assert.equal((await gateway.exited()).code, 0);
  } finally {
    await gateway.stop();
  }
});

test('a worker without its gateway leaves, also when its server is closed already', async () => {
  for (const message of [undefined, 'stay']) {
    const gateway = await FakeGateway.serve('messages.cjs');
    try {
      if (message !== undefined) {
        gateway.tell(message);
        await gateway.line('closing');
      }
      gateway.dropControl();
      assert.equal((await gateway.exited()).code, 1);
      assert.match(gateway.output, /gateway has exited/);
    } finally {
      await gateway.stop();
    }
  }
});

test('an app that does not listen to messages is not said to', async () => {
  const gateway = await FakeGateway.serve('gate.cjs');
  try {
    await gateway.line('beat', ({ cpu_us_total }) => Number(cpu_us_total) > 0);
    await gateway.ask();
    await gateway.line('done');
    assert.ok(!gateway.lines.some(({ type }) => type === 'hears-messages'));
  } finally {
    await gateway.stop();
  }
});
