// The first line of what was thrown, whatever that is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstLine } from '../src/control/thrown.js';

test('what is thrown is told in one line of bounded length', () => {
  assert.equal(firstLine(new TypeError('boom\nwith a second line')), 'TypeError: boom');
  assert.equal(firstLine('a word'), 'thrown: a word');
  assert.equal(firstLine(undefined), 'thrown: undefined');
  assert.equal(firstLine(Symbol('s')), 'thrown: Symbol(s)');
  assert.equal(firstLine(new Error('x'.repeat(1_000_000))).length, 300);
});

test('an exception that throws when it is read does no harm', () => {
  const refuse = (): never => {
    throw new Error('refused');
  };
  const hostile = [
    new Proxy(new Error('in a proxy'), { get: refuse, getPrototypeOf: refuse }),
    Object.defineProperty(new Error('of a getter'), 'message', { get: refuse }),
    { toString: refuse },
    Object.create(null) as object,
  ];
  for (const thrown of hostile) assert.equal(firstLine(thrown), 'an exception that cannot be read');
});
