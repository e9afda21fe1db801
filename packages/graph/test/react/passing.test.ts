/** Values that expire at once, in components. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atom, error, Model } from '../../src/index.js';
import { Reading } from '../../src/react/reading.js';
import { ManualSource, settled } from '../reference/source.js';

const PASSING = { now: atom('passing', { $expires: 0 }) };

async function arrived(): Promise<{ source: ManualSource; reading: Reading; model: Model }> {
  const source = new ManualSource();
  const model = new Model({ source });
  const reading = new Reading(model, ['now']);
  assert.equal(reading.state().is, 'waiting');
  await settled();
  source.gets[0]?.answer(PASSING);
  await settled();
  assert.deepEqual(reading.state(), { is: 'there', json: { now: 'passing' } });
  return { source, reading, model };
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

/** Reading whose request is in flight, after an invalidation that came before it. */
async function waiting(path = 'cart.count'): Promise<{
  model: Model;
  source: ManualSource;
  reading: Reading;
}> {
  const source = new ManualSource();
  const model = new Model({ source });
  model.invalidate('cart');
  const reading = new Reading(model, [path]);
  assert.equal(reading.state().is, 'waiting');
  await settled();
  return { model, source, reading };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

void test('a value that a call invalidates while it is on its way is asked for again', async () => {
  for (const old of [1, error('no cart'), atom(1, { $expires: 0 })]) {
    const { model, source, reading } = await waiting();
    // A component that showed the value before stays subscribed while it waits.
    const leave = reading.subscribe(() => undefined);
    const { thrown } = reading.state() as { thrown: Promise<unknown> };
    source.answerToCalls = { jsonGraph: {}, invalidated: [['cart', 'count']] };
    await model.call('cart.add');
    // A look in between waits for the same request.
    assert.equal((reading.state() as { thrown: unknown }).thrown, thrown);
    source.gets[0]?.answer({ cart: { count: old } });
    await thrown;
    assert.equal(reading.state().is, 'waiting');
    await settled();
    assert.equal(source.gets.length, 2);
    source.gets[1]?.answer({ cart: { count: 2 } });
    await settled();
    assert.deepEqual(plain(reading.state()), { is: 'there', json: { cart: { count: 2 } } });
    leave();
  }
});

void test('a failure of a request stays one, whatever was invalidated meanwhile', async () => {
  const { model, source, reading } = await waiting();
  model.invalidate('cart');
  source.gets[0]?.fail(new Error('down'));
  await settled();
  const { thrown: failure } = reading.state() as { thrown: Error };
  assert.equal(failure.message, 'down');
});

void test('a change or an invalidation between the render and the subscription replaces a value that expired at once', async () => {
  for (const change of ['merge', 'invalidate', 'none']) {
    const { model, source, reading } = await waiting('now');
    source.gets[0]?.answer(PASSING);
    await settled();
    assert.equal(reading.state().is, 'there');
    const version = reading.version();
    if (change === 'merge') model.merge({ jsonGraph: { now: 'pushed' } });
    if (change === 'invalidate') model.invalidate('now');
    reading.subscribe(() => undefined);
    assert.equal(reading.version() === version, change === 'none', change);
    const state = reading.state();
    if (change === 'invalidate') assert.equal(state.is, 'waiting');
    else
      assert.deepEqual(plain(state), {
        is: 'there',
        json: { now: change === 'merge' ? 'pushed' : 'passing' },
      });
  }
});

void test('an answer without a value that expires at once is not asked for without end', async () => {
  const { source, reading } = await waiting('now');
  source.gets[0]?.answer({ now: atom(undefined, { $expires: 0 }) });
  await settled();
  assert.deepEqual(reading.state(), { is: 'there', json: undefined });
});

void test('an invalidation tells the component that shows a value which expired at once', async () => {
  const { source, reading, model } = await arrived();
  let told = 0;
  const leave = reading.subscribe(() => (told += 1));
  model.invalidate('other', ['others', { to: 9 }]);
  assert.equal(told, 0);
  assert.equal(reading.state().is, 'there');
  model.invalidate('now');
  assert.equal(told, 1);
  assert.equal(reading.state().is, 'waiting');
  await settled();
  assert.equal(source.gets.length, 2);
  leave();
});
