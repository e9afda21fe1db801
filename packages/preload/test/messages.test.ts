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
      assert.match(gateway.output, /gateway is gone/);
    } finally {
      await gateway.stop();
    }
  }
});
