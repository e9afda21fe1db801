/** The template element in a development build of React. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement, version } from 'react';
import { renderToString } from 'react-dom/server';
import { template } from '../src/template.js';

void test('development builds get ordinary elements, with the warnings that belong to them', (context) => {
  assert.notEqual(process.env['NODE_ENV'], 'production');
  const item = template(version, ['<li>', '</li>'], [[0, 0, 0, [['li', null, 1, 0]]]], ([child], key) =>
    createElement('li', { key: key as string }, child as string),
  );
  const element = item(['a'], 'k');
  assert.equal('$$template' in element, false);
  assert.equal('_store' in element, true);
  assert.equal(element.key, 'k');

  const error = context.mock.method(console, 'error', () => undefined);
  renderToString(createElement('ul', null, [item(['a']), item(['b'])]));
  assert.match(String(error.mock.calls[0]?.arguments[0]), /unique "key" prop/);
});
