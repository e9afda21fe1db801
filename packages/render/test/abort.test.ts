// Aborts behave as signals do, and make a signal for those who ask.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Abort } from '../src/abort.js';

test('listeners are called once, with the reason there, and those that were removed are not', () => {
  const abort = new Abort();
  const calls: unknown[] = [];
  const removed = (): void => void calls.push('removed');
  abort.addEventListener('abort', () => calls.push(abort.reason));
  abort.addEventListener('abort', removed);
  abort.removeEventListener('abort', removed);
  const reason = new Error('late');
  abort.abort(reason);
  abort.abort(new Error('again'));
  abort.addEventListener('abort', () => calls.push('too late'));
  assert.deepEqual(calls, [reason]);
  assert.equal(abort.aborted, true);
});

test('a signal is the same each time, and is aborted with the same reason, before and after it was asked for', () => {
  const reason = new Error('late');
  const [before, after] = [new Abort(), new Abort()];
  const { signal } = before;
  assert.equal(before.signal, signal);
  assert.equal(signal.aborted, false);
  before.abort(reason);
  after.abort(reason);
  for (const each of [signal, after.signal]) assert.deepEqual([each.aborted, each.reason], [true, reason]);
});

test('the default reason is an AbortError', () => {
  const abort = new Abort();
  abort.abort();
  assert.equal((abort.reason as Error).name, 'AbortError');
  assert.equal(abort.signal.reason, abort.reason);
});
