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
  await (state as { until: Promise<unknown> }).until;
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
