// The first line of what was thrown, whatever that is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { firstLine, placeOf } from '../src/control/thrown.js';

interface SecretCase {
  why: string;
  variables: Record<string, string>;
  text: string;
  shown: string;
}

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

test('the place is the innermost call in the app, else in one of its packages', (t) => {
  const stacked = (...frames: string[]): Error =>
    Object.assign(new Error('x'), {
      stack: ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
    });
  const cwd = '/srv/shop';
  t.mock.method(process, 'cwd', () => cwd);
  assert.equal(
    placeOf(
      stacked(
        'node:fs:1:2',
        `q (${cwd}/node_modules/pg/client.js:3:4)`,
        `async load (file://${cwd}/a%20b.js:5:6)`,
      ),
    ),
    ' (a b.js:5:6)',
  );
  assert.equal(
    placeOf(stacked('f (/elsewhere/c.js:7:8)', 'new G (/elsewhere/d.js:1:1)')),
    ' (/elsewhere/c.js:7:8)',
  );
  assert.equal(
    placeOf(stacked(`q (${cwd}/node_modules/pg/client.js:3:4)`)),
    ' (node_modules/pg/client.js:3:4)',
  );
  for (const none of [stacked('node:fs:1:2', 'eval (<anonymous>:1:2)'), 'a word', undefined])
    assert.equal(placeOf(none), '');
});

test('values of secret variables and passwords of URLs are left out', (t) => {
  // The gateway's test of `last_words.rs` runs the same cases.
  const file = new URL('../../../gateway/supervisor/src/last_words_secrets.json', import.meta.url);
  const cases = JSON.parse(readFileSync(file, 'utf8')) as SecretCase[];
  assert.ok(cases.length > 0);
  const known = process.env;
  t.after(() => {
    process.env = known;
  });
  for (const { why, variables, text, shown } of cases) {
    process.env = variables;
    assert.equal(firstLine(new Error(text)), `Error: ${shown}`, why);
  }
});
