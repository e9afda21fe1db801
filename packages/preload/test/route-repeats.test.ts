/** The line at the start about routes that are never reached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

const LINE = /sluice: .*registered again and never reached.*\n/g;

async function lines(name: string, env: Record<string, string> = {}): Promise<string[]> {
  const gateway = await FakeGateway.serve('repeats.cjs', { args: [name], env });
  try {
    // The second beat is the first after a second of service; the line is written soon after it.
    await gateway.line('beat', () => gateway.lines.filter(({ type }) => type === 'beat').length >= 3);
    return gateway.output.match(LINE) ?? [];
  } finally {
    await gateway.stop();
  }
}

for (const name of ['express', 'express4']) {
  test(`${name}: a route that repeats another is named once, with both places`, async () => {
    const [line = '', ...more] = await lines(name);
    assert.deepEqual(more, []);
    assert.match(
      line,
      /2 routes are registered again and never reached: GET \/a at .*repeats\.cjs:11, first at .*repeats\.cjs:8; POST \/api\/b at .*repeats\.cjs:16, first at .*repeats\.cjs:15\. Remove one/,
    );
  });
}

test('routes that pass requests on, differ, or are of another worker are not told', async () => {
  assert.deepEqual(await lines('chain'), []);
  assert.deepEqual(await lines('express', { NODE_APP_INSTANCE: '1' }), []);
});
