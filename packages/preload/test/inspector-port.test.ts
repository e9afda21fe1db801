import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

async function portOf(
  env: Record<string, string>,
  viaNodeOptions = false,
  app = 'inspector-port.cjs',
): Promise<unknown> {
  const gateway = await FakeGateway.start(app, { env, viaNodeOptions });
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

test('the option that hides the inspector is no choice of a port, and harms no cluster', async () => {
  const env = { NODE_OPTIONS: '--inspect-publish-uid=stderr' };
  assert.equal(await portOf(env), 0);
  assert.equal(await portOf(env, false, 'inspector-cluster.cjs'), 0);
});
