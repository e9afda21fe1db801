/** Reads of components without React. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Model } from '../../src/model/model.js';
import { Reading } from '../../src/react/reading.js';

test('a read that nobody showed for a while shows what was written since', () => {
  const model = new Model({ cache: { a: 1 } });
  const reading = new Reading(model, ['a']);
  reading.state();
  reading.subscribe(() => undefined)();
  model.merge({ jsonGraph: { a: 2 } });
  assert.deepEqual({ ...(reading.state() as { json: object }).json }, { a: 2 });
});

test('a request that failed does not hide values that came otherwise', async () => {
  const source = { get: () => Promise.reject(new Error('down')) };
  const model = new Model({ source });
  const reading = new Reading(model, ['a']);
  const state = reading.state();
  assert.equal(state.is, 'waiting');
  await (state as { thrown: Promise<unknown> }).thrown;
  assert.equal(reading.state().is, 'failed');
  model.merge({ jsonGraph: { a: 2 } });
  assert.equal(reading.state().is, 'there');
});

test('a change between render and subscription makes a component look again, and none does not', () => {
  const model = new Model({ cache: { a: 1 } });
  const [changed, same] = [new Reading(model, ['a']), new Reading(model, ['a'])];
  changed.state();
  const before = changed.version();
  model.merge({ jsonGraph: { a: 2 } });
  same.state();
  changed.subscribe(() => undefined);
  same.subscribe(() => undefined);
  assert.notEqual(changed.version(), before);
  assert.equal(same.version(), 0);
});

test('a failed read is not asked for again at once, and is when a component is shown later', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  let calls = 0;
  const source = {
    get: () => {
      calls += 1;
      return calls < 3
        ? Promise.reject(new Error(`down ${calls}`))
        : Promise.resolve({ jsonGraph: { a: 1 } });
    },
  };
  const reading = new Reading(new Model({ source }), ['a']);
  const waits = async (): Promise<void> => {
    const state = reading.state();
    assert.equal(state.is, 'waiting');
    await (state as { thrown: Promise<unknown> }).thrown;
  };
  await waits();
  for (let look = 0; look < 10; look += 1) {
    t.mock.timers.tick(499);
    assert.equal(String((reading.state() as { thrown: unknown }).thrown), 'Error: down 1');
  }
  assert.equal(calls, 1);
  t.mock.timers.tick(10);
  await waits();
  assert.equal(String((reading.state() as { thrown: unknown }).thrown), 'Error: down 2');
  reading.retry();
  await waits();
  assert.deepEqual({ ...(reading.state() as { json: object }).json }, { a: 1 });
  assert.equal(calls, 3);
});
