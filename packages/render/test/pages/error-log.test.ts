// What is said of boxes that fail where the app does not listen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorLog } from '../../src/pages/error-log.js';
import { createPages } from '../../src/pages/pages.js';
import { hostiles } from '../support/hostile.js';
import { boxesIn, registryForTests, textOf } from './support.js';

test('a component that nobody knows leaves a hole in a page of 200, and a line on standard error', async (t) => {
  const { mock } = t.mock.method(console, 'error', () => {});
  const pages = createPages({ registry: registryForTests() });
  const boxes = [{ component: 'Crad' }, { component: 'Text' }, { component: 'Throws', id: 'hero' }];
  const page = await pages.render({ boxes });
  const holes = boxesIn(await textOf(page)).map(({ hole }) => hole);
  assert.equal(page.status, 200);
  assert.deepEqual(holes, ['unknown', undefined, 'error']);
  assert.deepEqual(
    mock.calls.map(({ arguments: all }) => all),
    [
      ['Component "Crad" in box b0: ReferenceError: Component "Crad" not registered'],
      ['Component "Throws" in box hero: Error: It threw'],
    ],
  );
});

test('an app that listens is told instead', async (t) => {
  const { mock } = t.mock.method(console, 'error', () => {});
  const told: unknown[] = [];
  const pages = createPages({
    registry: registryForTests(),
    onError: (error, component, box) => told.push([error.message, component, box]),
  });
  await textOf(await pages.render({ boxes: [{ component: 'Crad' }] }));
  assert.deepEqual(told, [['Component "Crad" not registered', 'Crad', 'b0']]);
  assert.equal(mock.callCount(), 0);
});

test('the log has 20 lines in 10 s whatever fails, and says how many it has left out', () => {
  const lines: string[] = [];
  let now_ms = 0;
  const log = errorLog(
    (line) => lines.push(line),
    () => now_ms,
  );
  for (let index = 0; index < 1_000; index += 1) log(new Error('no'), 'Card', `b${index}`);
  assert.equal(lines.length, 20);
  now_ms = 10_000;
  log(new Error('no'), 'Card', 'b0');
  assert.deepEqual(lines.slice(20), [
    '980 further boxes failed, which the log omits',
    'Component "Card" in box b0: Error: no',
  ]);
});

test('a failure is one line of bounded length, whatever its words are', () => {
  const lines: string[] = [];
  const log = errorLog((line) => lines.push(line));
  log(new Error(`first\nsecond\u2028third\u001B[31m${'x'.repeat(1e6)}`), 'A\nB"'.repeat(1_000), 'b0');
  log(
    Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('no message');
      },
    }),
    'Card',
    'b1',
  );
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.ok(line.length < 2_000);
    assert.doesNotMatch(line, /[\p{Cc}\u2028]/u);
  }
  assert.match(lines[1] ?? '', /"Card" in box b1: Error: \(its message cannot be read\)/);
});

test('whatever was thrown is one line of bounded length', () => {
  const lines: string[] = [];
  for (const [name, create] of Object.entries(hostiles))
    errorLog((line) => lines.push(line))(create() as Error, name, 'b0');
  assert.equal(lines.length, Object.keys(hostiles).length);
  for (const line of lines) {
    assert.ok(line.length < 2_000);
    assert.doesNotMatch(line, /[\p{Cc}\u2028]/u);
  }
});
