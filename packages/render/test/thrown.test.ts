// Whatever is thrown is read by one function, once, without running code of it and within bounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import * as fc from 'fast-check';
import { LateError } from '../src/tasks/errors.js';
import { logText, tamed, toError } from '../src/thrown.js';
import { hostiles } from './support/hostile.js';

function assertTame(error: Error): void {
  for (let time = 0; time < 3; time += 1) {
    assert.ok(error instanceof Error);
    assert.equal(typeof error.name, 'string');
    assert.equal(typeof error.message, 'string');
    assert.ok(error.stack === undefined || typeof error.stack === 'string');
    assert.ok(JSON.stringify([error.name, error.message, error.stack]).length < 100_000);
  }
}

for (const [name, create] of Object.entries(hostiles)) {
  void test(`${name}: what is made of it can be read, and its log line is bounded`, () => {
    assertTame(toError(create()));
    assert.ok(logText(create()).length < 40_000);
    const again = tamed(create());
    if (again instanceof Error) assertTame(again);
  });
}

void test('an error stays the one that was thrown, whatever was mended of it', () => {
  const plain = new LateError('late');
  assert.equal(toError(plain), plain);
  for (const name of ['getter of the message', '20 MB of message', 'no texts', 'getter of the stack']) {
    const thrown = hostiles[name]?.();
    assert.equal(toError(thrown), thrown, name);
  }
  const long = toError(new RangeError('x'.repeat(20_000)));
  assert.match(long.message, /^x{10000}… \(20000 characters in all\)$/);
  assert.ok(long instanceof RangeError);
});

void test('errors of other realms and of the platform are errors', () => {
  const other: unknown = vm.runInNewContext('new TypeError("elsewhere")');
  assert.equal(toError(other), other);
  const { reason } = AbortSignal.abort() as { reason: unknown };
  assert.equal(toError(reason), reason);
  assert.equal(toError(reason).name, 'AbortError');
  class Named extends Error {
    override get name(): string {
      return 'Named';
    }
  }
  assert.equal(toError(new Named('x')).name, 'Named');
});

void test('what is no error is described', () => {
  assert.equal(toError('text').message, 'text');
  assert.equal(toError(null).message, 'null was thrown');
  assert.equal(toError({ a: 1 }).message, '{ a: 1 } was thrown');
  assert.equal(toError(new Proxy({}, {})).message, 'A Proxy was thrown');
  assert.equal(tamed('text'), 'text');
  assert.equal(tamed(undefined), undefined);
});

void test('a line of the log has the stack, the code and the causes', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const text = logText(new Error('no data', { cause }));
  assert.match(
    text,
    /^Error: no data\n +at [^]*\[cause\]: Error: refused\n +at [^]* \{ code: ECONNREFUSED \}$/,
  );
});

void test('lines of one error are indented after the first, so that a log has one record of them', () => {
  const cause = new Error('and\r\n\nthis');
  const message = 'no\ndata\n\n2026-11-28 GET /paid 200\r  kept';
  for (const thrown of [new Error(message, { cause }), message, { message }]) {
    const [, ...lines] = logText(thrown).split(/[\r\n]/);
    assert.ok(lines.length > 0);
    assert.deepEqual(
      lines.filter((line) => !/^[ \t]+\S/.test(line)),
      [],
    );
  }
});

void test('an app whose Error.prepareStackTrace throws gets errors that can be read', () => {
  const error = new Error('x');
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  Error.prepareStackTrace = () => {
    throw new Error('cannot');
  };
  const read = toError(error);
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  if (before !== undefined) Object.defineProperty(Error, 'prepareStackTrace', before);
  assertTame(read);
});

void test('anything at all can be thrown', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true }), (value) => {
      assertTame(toError(value));
      assertTame(
        toError(Object.assign(new Error('x'), { message: value, name: value, stack: value, cause: value })),
      );
      assert.equal(typeof logText(value), 'string');
    }),
  );
});
