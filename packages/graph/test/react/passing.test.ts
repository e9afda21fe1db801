/** Values that expire at once, in components. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atom, Model } from '../../src/index.js';
import { Reading } from '../../src/react/reading.js';
import { ManualSource, settled } from '../reference/source.js';

const PASSING = { now: atom('passing', { $expires: 0 }) };

async function arrived(): Promise<{ source: ManualSource; reading: Reading }> {
  const source = new ManualSource();
  const reading = new Reading(new Model({ source }), ['now']);
  assert.equal(reading.state().is, 'waiting');
  await settled();
  source.gets[0]?.answer(PASSING);
  await settled();
  assert.deepEqual(reading.state(), { is: 'there', json: { now: 'passing' } });
  return { source, reading };
}

void test('a value that expires at once is shown as long as a component shows it, and asked for by the next one', async (context) => {
  context.mock.timers.enable({ apis: ['Date'] });
  const { source, reading } = await arrived();
  // Strict mode of React: subscribed, left, and subscribed again.
  reading.subscribe(() => undefined)();
  const leave = reading.subscribe(() => undefined);
  context.mock.timers.tick(60_000);
  assert.equal(reading.state().is, 'there');
  leave();
  assert.equal(reading.state().is, 'waiting');
  await settled();
  assert.equal(source.gets.length, 2);
});

void test('a value that expired at once does not wait long for its component', async (context) => {
  context.mock.timers.enable({ apis: ['Date'] });
  const { reading } = await arrived();
  context.mock.timers.tick(4_999);
  assert.equal(reading.state().is, 'there');
  context.mock.timers.tick(1);
  assert.equal(reading.state().is, 'waiting');
});
