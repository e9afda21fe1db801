import assert from 'node:assert/strict';
import test from 'node:test';
import { unlike } from './alike.ts';

const cell = { percent: 72, server: 'sluice', class: '5 ms', sent: 4_000, ok: 4_000 };

test('the same requests, all answered, may stand side by side', () => {
  assert.deepEqual(
    unlike([cell, { ...cell, server: 'pm2', ok: 3_999 }, { ...cell, class: '100 ms', sent: 9, ok: 9 }]),
    [],
  );
});

test('a server that got fewer requests is refused', () => {
  const reasons = unlike([cell, { ...cell, server: 'pm2', sent: 3_000, ok: 3_000 }]);
  assert.deepEqual(reasons, ['5 ms at 72 %: unequal requests: sluice 4000, pm2 3000']);
});

test('a server that looks fast because it refuses is refused, but in overload', () => {
  const refusing = { ...cell, server: 'passenger', ok: 3_000 };
  assert.deepEqual(unlike([cell, refusing]), ['5 ms at 72 %: passenger left 1000 of 4000 unanswered']);
  assert.deepEqual(unlike([{ ...cell, percent: 200, ok: 2_000 }]), []);
});
