import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../../tests/support/eventually.ts';
import { every, victims } from './inject.ts';

test('as many places are killed as the server was asked for, and the worker for long requests never', () => {
  const sluice = [0, 1, 2].map((place) => ({ pid: 100 + place, place }));
  assert.deepEqual(
    victims(sluice, 2).map(({ place }) => place),
    [0, 1],
  );
  // Passenger tells no place: its processes are all alike.
  const passenger = [{ pid: 100, place: 100 }];
  assert.deepEqual(victims(passenger, 2), passenger);
});

test('a fault is injected so many times and no more', async () => {
  let begun = 0;
  let times = 0;
  const faults = every(
    1,
    async () => {
      begun += 1;
      // Never beside itself.
      assert.equal(begun, times + 1);
      await Promise.resolve();
      times += 1;
      return times;
    },
    3,
  );
  await eventually(() => times === 3, { what: 'three faults' });
  assert.deepEqual(await faults.stop(), [1, 2, 3]);
});

test('faults that fell out of the time of the load are not counted', async () => {
  const faults = every(1_000_000, () => 7, 3);
  assert.deepEqual(await faults.stop(), []);
});

test('a fault that fails is told when the faults are stopped', async () => {
  let isBegun = false;
  const failing = every(1, () => {
    isBegun = true;
    throw new Error('no reload');
  });
  await eventually(() => isBegun, { what: 'the first fault' });
  await assert.rejects(async () => failing.stop(), /no reload/);
});
