import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

const waiting = 'peer=203.0.113.9:51234;local=192.0.2.1:3000;proto=http;waits=1';

test('a long poll leaves the gate while the app waits with its answer, and is answered all the same', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    const poll = gateway.ask({ path: '/poll', label: gateway.label(waiting) });
    const done = await gateway.line('done');
    assert.equal((done['requests'] as { left: string }[])[0]?.left, 'wait');
    assert.equal((await gateway.ask()).body, 'page');
    await gateway.ask({ path: '/tell' });
    assert.equal((await poll).body, 'told');
  } finally {
    await gateway.stop();
  }
});

test('a poll that is answered at once ends like any other request', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    assert.equal((await gateway.ask({ label: gateway.label(waiting) })).body, 'page');
    const done = await gateway.line('done');
    assert.equal((done['requests'] as { left: string }[])[0]?.left, 'end');
  } finally {
    await gateway.stop();
  }
});

test('I1_a_poll_unknown_to_the_gateway_occupies_the_gate', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    const poll = gateway.ask({ path: '/poll?ms=300' });
    const order: string[] = [];
    await Promise.all([
      poll.then(({ body }) => order.push(body)),
      gateway.ask().then(({ body }) => order.push(body)),
    ]);
    assert.deepEqual(order, ['late', 'page']);
  } finally {
    await gateway.stop();
  }
});
