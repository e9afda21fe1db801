/** The line at the start about routes that are never reached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

const LINE = /sluice: .*registered again.*\n/g;

async function lines(name: string, env: Record<string, string> = {}): Promise<string[]> {
  const gateway = await FakeGateway.serve('repeats.cjs', { args: name.split(' '), env });
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
      /2 routes are registered again and never reached: GET \/a at .*repeats\.cjs:32, first at .*repeats\.cjs:29; POST \/api\/b at .*repeats\.cjs:37, first at .*repeats\.cjs:36\. Remove one/,
    );
  });
}

for (const name of ['express', 'express4']) {
  test(`${name}: a route behind one that handlers skip is not told, or only if it is reached`, async () => {
    const [never = '', unless = '', ...more] = await lines(`${name} skip`);
    assert.deepEqual(more, []);
    assert.match(
      never,
      /: 1 route is registered again and never reached: GET \/l at .*:25, first at .*:24\. Remove/,
    );
    assert.match(
      unless,
      /2 routes are registered again, and reached only if .* next\('route'\) .*: GET \/m at .*:21, first at .*:20; GET \/l at .*:27, first at .*:24\. If none does, remove/,
    );
  });
}

test('routes that pass requests on, differ, or are of another worker are not told', async () => {
  assert.deepEqual(await lines('express chain'), []);
  assert.deepEqual(await lines('express', { NODE_APP_INSTANCE: '1' }), []);
});
