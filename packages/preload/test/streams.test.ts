import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

for (const path of ['/events', '/events-implicit']) {
  test(`an event stream leaves the gate at its headers (${path})`, async () => {
    const gateway = await FakeGateway.serve('streams.cjs');
    try {
      const streams = [1, 2].map(() => {
        const socket = gateway.raw();
        socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nx-sluice-request: ${gateway.label()}\r\n\r\n`);
        let text = '';
        socket.on('data', (part) => (text += part));
        return () => text.includes('data: 1');
      });
      await gateway.until('both streams', () => streams.every((arrived) => arrived()));
      assert.equal((await gateway.ask()).body, 'page');
      const done = await gateway.line('done');
      assert.equal((done['requests'] as { left: string }[])[0]?.left, 'stream');
    } finally {
      await gateway.stop();
    }
  });
}

test('any other streamed response holds the gate to its end', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    const order: string[] = [];
    const slow = gateway.ask({ path: '/slow' }).then(({ body }) => order.push(body));
    const page = gateway.ask().then(({ body }) => order.push(body));
    await Promise.all([slow, page]);
    assert.deepEqual(order, ['partend', 'page']);
  } finally {
    await gateway.stop();
  }
});

test('an upgrade leaves the gate at its headers and keeps its connection', async () => {
  const gateway = await FakeGateway.serve('streams.cjs');
  try {
    const socket = gateway.raw();
    let text = '';
    socket.on('data', (part) => (text += part));
    socket.write(
      `GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\nx-sluice-request: ${gateway.label()}\r\n\r\n`,
    );
    await gateway.until('101', () => text.includes('101 Switching'));
    assert.equal((await gateway.ask()).body, 'page');
    socket.write('hello');
    await gateway.until('echo', () => text.endsWith(';hello'));
    assert.ok(text.includes('from 203.0.113.9'));
    assert.ok(!text.includes('x-sluice'));
    const done = await gateway.line('done');
    assert.equal((done['requests'] as { left: string }[])[0]?.left, 'upgrade');
  } finally {
    await gateway.stop();
  }
});
