import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

async function portOf(env: Record<string, string>, viaNodeOptions = false): Promise<unknown> {
  const gateway = await FakeGateway.serve('inspector-port.cjs', { env, viaNodeOptions });
  try {
    return await gateway.printed('debugPort');
  } finally {
    await gateway.stop();
  }
}

test('the inspector would take a free port, and nothing opens it', async () => {
  assert.equal(await portOf({}), 0);
  assert.equal(await portOf({}, true), 0);
});

test('an inspector port that somebody chose stays', async () => {
  assert.equal(await portOf({ NODE_OPTIONS: '--inspect-port=9777' }), 9777);
  assert.equal(await portOf({ NODE_OPTIONS: '--inspect-port=9229' }), 9229);
});
