import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway, PUBLIC_PORT } from './fake-gateway.js';

test('an app that forks its own cluster works with one process and is told so once', async () => {
  const gateway = await FakeGateway.serve('processes.cjs', { args: ['cluster'] });
  try {
    assert.equal(await gateway.printed('worker1'), PUBLIC_PORT);
    assert.equal(await gateway.printed('worker2'), PUBLIC_PORT);
    const { body } = await gateway.ask();
    for (let count = 0; count < 5; count += 1) assert.equal((await gateway.ask()).body, body);
    assert.equal(gateway.lines.filter(({ type }) => type === 'hello').length, 1);
    assert.equal(gateway.output.match(/forks its own node:cluster/g)?.length, 1);
  } finally {
    await gateway.stop();
  }
});

test('a forked child that listens on the same port disturbs nobody', async () => {
  const gateway = await FakeGateway.serve('processes.cjs', { args: ['fork'], viaNodeOptions: true });
  try {
    assert.equal(await gateway.printed('child'), PUBLIC_PORT);
    assert.equal((await gateway.ask()).body, 'parent');
    assert.equal(gateway.lines.filter(({ type }) => type === 'hello').length, 1);
  } finally {
    await gateway.stop();
  }
});

test('a thread may be the one that serves', async () => {
  const gateway = await FakeGateway.serve('processes.cjs', { args: ['thread'], viaNodeOptions: true });
  try {
    assert.equal((await gateway.ask()).body, 'thread');
    gateway.dropControl();
    await gateway.until('exit', () => gateway.child?.signalCode === 'SIGTERM');
  } finally {
    await gateway.stop();
  }
});
