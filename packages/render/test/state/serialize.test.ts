// State comes back as it was, and its text breaks out of no place of a document. An HTML parser is the judge.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { seed } from '../../../../tests/support/chance.js';
import { revive } from '../../src/state/revive.js';
import { serialize } from '../../src/state/serialize.js';
import { breaking } from '../support/breaking.js';

/** Values as `revive` gives them: properties that are undefined, or named `__proto__`, are left out. */
function kept(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, kept);
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [kept(key), kept(each)]));
  if (value instanceof Set) return new Set([...value].map(kept));
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof URL)
    return value;
  const entries = Object.entries(value).filter(([key, each]) => key !== '__proto__' && each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, kept(each)]));
}

const leaf = fc.oneof(
  breaking,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, Number.NaN, Number.POSITIVE_INFINITY, -0),
  fc.bigInt(),
  fc.date(),
  fc.webUrl().map((url) => new URL(url)),
);
const key = fc.oneof(breaking, fc.constantFrom('__proto__', 'constructor', 'toString', '$sluice', '0'));

/** Own properties whatever their names, as JSON.parse makes them. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

const { value: anyValue } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => new Set(values)),
  ),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(objectOf),
}));

void test('whatever is serialised is revived as it was', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      assert.deepStrictEqual(revive(serialize(value)), kept(value));
    }),
    { seed, numRuns: 2_000 },
  );
});

void test('plain data is plain JSON, and values are not copied', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).match(/__proto__|\$sluice|-0/));
      assert.deepEqual(JSON.parse(serialize(value)), value);
    }),
    { seed },
  );
});

void test('state is inert in a script element of a document', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const text = serialize(value);
      const document = parse(
        `<!doctype html><html><head></head><body><p>a</p><script type="application/json">${text}</script><p>b</p></body></html>`,
      );
      const shape = outline(document);
      assert.equal(shape, 'html(head,body(p(#text),script(#text),p(#text)))');
      assert.equal(scriptText(document), text);
    }),
    { seed, numRuns: 2_000 },
  );
});

void test('state is a JavaScript expression, too', () => {
  fc.assert(
    fc.property(breaking, (text) => {
      const value = runInNewContext(`(${serialize({ text })})`) as { text: string };
      assert.equal(value.text, text);
    }),
    { seed },
  );
});

void test('revived state never has a property named __proto__, however it is spelt', () => {
  for (const text of [
    '{"__proto__":{"isAdmin":true}}',
    String.raw`{"\u005f_proto__":{"isAdmin":true}}`,
    String.raw`{"a":[{"__pr\u006fto__":{"isAdmin":true}}]}`,
  ]) {
    const value = JSON.stringify(revive(text));
    assert.ok(!value.includes('isAdmin'), text);
  }
  assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
});

void test('what cannot be sent is refused, with its place', () => {
  const circle: Record<string, unknown> = { items: [] };
  (circle['items'] as unknown[]).push({ owner: circle });
  assert.throws(() => serialize(circle), /state\.items\[0\]\.owner is circular/);
  assert.throws(() => serialize({ onClick() {} }), /state\.onClick is a function/);
  assert.throws(() => serialize([1, [Symbol('x')]]), /state\[1\]\[0\] is a symbol/);
  let deep: unknown = 0;
  for (let depth = 0; depth < 2_000; depth += 1) deep = [deep];
  assert.throws(() => serialize(deep), /more than 1000 deep/);
});

void test('an object that is there twice is no circle', () => {
  const shared = { a: 1 };
  assert.deepEqual(revive(serialize([shared, { shared }])), [shared, { shared }]);
});

void test('objects with toJSON are what it returns', () => {
  const money = { cents: 250, toJSON: () => ({ amount: '2.50' }) };
  assert.deepEqual(revive(serialize({ money })), { money: { amount: '2.50' } });
});

function outline(node: Tree.Node): string {
  if (!('childNodes' in node)) return node.nodeName;
  const children = node.childNodes.filter((child) => child.nodeName !== '#documentType').map(outline);
  if (node.nodeName === '#document') return children.join();
  return children.length === 0 ? node.nodeName : `${node.nodeName}(${children.join()})`;
}

function scriptText(node: Tree.Node): string | undefined {
  if (node.nodeName === 'script' && 'childNodes' in node) {
    return node.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
  }
  if (!('childNodes' in node)) return undefined;
  return node.childNodes.map(scriptText).find((text) => text !== undefined);
}
