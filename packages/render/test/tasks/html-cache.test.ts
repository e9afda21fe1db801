// The component cache is bounded, forgets what is old, and keeps what is used.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { test } from 'node:test';
import { seed } from '../../../../tests/support/chance.js';
import { HtmlCache } from '../../src/tasks/html-cache.js';
import { PlacedHtml } from '../../src/tasks/placed-html.js';

void test('an entry is there until its time is over', () => {
  const cache = new HtmlCache(100_000);
  cache.set('a', '<p>', 1_000);
  assert.equal(cache.get('a', 999), '<p>');
  assert.equal(cache.get('a', 1_000), undefined);
  assert.equal(cache.bytes, 0);
});

void test('the least recently used entry goes first', () => {
  const cache = new HtmlCache(10 * 2_000);
  const html = 'x'.repeat(800);
  for (let index = 0; index < 10; index += 1) cache.set(String(index), html, 1_000);
  cache.get('0', 1);
  cache.set('new', html, 1_000);
  assert.equal(cache.get('0', 1), html);
  assert.equal(cache.get('1', 1), undefined);
  assert.equal(cache.get('new', 1), html);
});

void test('an entry that would push everything else out is not kept', () => {
  const cache = new HtmlCache(10_000);
  cache.set('small', 'x', 1_000);
  cache.set('large', 'x'.repeat(5_000), 1_000);
  assert.equal(cache.get('large', 1), undefined);
  assert.equal(cache.get('small', 1), 'x');
});

void test('the bytes never exceed the limit, and are those of the entries', () => {
  const step = fc.record({ key: fc.nat(30), length: fc.nat(2_000), at: fc.nat(100), reads: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const cache = new HtmlCache(8_000);
      for (const { key, length, at, reads } of steps) {
        if (reads) cache.get(String(key), at);
        else cache.set(String(key), 'x'.repeat(length), at + 50);
        assert.ok(cache.bytes >= 0 && cache.bytes <= 8_000, `${cache.bytes} bytes`);
      }
      for (let key = 0; key <= 30; key += 1) cache.get(String(key), Number.POSITIVE_INFINITY);
      assert.equal(cache.bytes, 0);
    }),
    { seed },
  );
});

void test('HTML in pieces has ids in its places, and is counted instead of its text', () => {
  const html = fc.array(fc.oneof(fc.constant('PLACE'), fc.string({ unit: 'grapheme' })), { maxLength: 20 });
  fc.assert(
    fc.property(html, fc.stringMatching(/^[a-z0-9-]+$/), (parts, id) => {
      const cache = new HtmlCache(1_000_000);
      const text = parts.join('');
      cache.set('a', text, 1_000);
      const entry = cache.find('a', 1);
      assert.ok(entry);
      const pieces = cache.pieces(entry, 'PLACE');
      assert.equal(String(new PlacedHtml(pieces, id)), text.split('PLACE').join(id));
      assert.equal(cache.pieces(entry, 'PLACE'), pieces);
      assert.ok(cache.bytes >= pieces.reduce((sum, { length }) => sum + length, 0));
      cache.purge();
      assert.equal(cache.bytes, 0);
    }),
    { seed },
  );
});

void test('pieces that are larger than the text still keep the limit', () => {
  const cache = new HtmlCache(40_000);
  const html = '\u4e2d'.repeat(1_500);
  for (let index = 0; index < 12; index += 1) {
    cache.set(String(index), html, 1_000);
    const entry = cache.find(String(index), 1);
    if (entry !== undefined) cache.pieces(entry, 'PLACE');
    assert.ok(cache.bytes <= 40_000, `${cache.bytes} bytes`);
  }
});
