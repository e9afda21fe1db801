/** JSX text: where the compiler takes it for known, all JSX transforms make the same of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync, transformSync as babel, types } from '@babel/core';
import { transformSync as esbuild } from 'esbuild';
import * as fc from 'fast-check';
import type { ReactElement } from 'react';
import { transformWithOxc } from 'vite';
import { seed } from '../../../tests/support/chance.js';
import { escapeHtml, jsxText } from '../src/text.js';
import { own } from './support/versions.js';

const PARTS = [
  ['a', 'b c', 'é', '"', "'", '\\', ' ', '  ', '\n', '\r\n', '\t', '\u00a0', '\u200b', '\u2028', '\u3000'],
  ['&nbsp;', '&amp;', '&#32;', '&#x0A;', '&#x41;', '&unknown;', '&NewLine;', '&Tab;', '&ensp;', '&lt;'],
].flat();
const rawText = fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join(''));

function childrenIn(code: string): unknown {
  return (own.evaluate(code)['default'] as ReactElement<{ children?: unknown }>).props.children;
}

function known(source: string): string | undefined {
  let text: string | undefined = '';
  const file = parseSync(source, { parserOpts: { plugins: ['jsx'] }, configFile: false });
  assert.ok(file);
  types.traverseFast(file, (node) => {
    if (node.type === 'JSXText') text = jsxText(node.extra?.['raw'] as string, node.value);
  });
  return text;
}

void test(`Babel, esbuild and Oxc agree with it (seed ${seed})`, async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(rawText, async (raw) => {
      const source = `export default <p>${raw}</p>;`;
      const text = known(source);
      if (text === undefined) return;
      count += 1;
      const jsx = { runtime: 'automatic' } as const;
      const plugins = [['@babel/plugin-transform-react-jsx', jsx]];
      const outputs = {
        babel: babel(source, { plugins, configFile: false })?.code ?? '',
        esbuild: esbuild(source, { loader: 'jsx', jsx: 'automatic' }).code,
        oxc: (await transformWithOxc(source, 'a.jsx', { jsx })).code,
      };
      for (const [name, code] of Object.entries(outputs)) {
        assert.equal(childrenIn(code) ?? '', text, `${name} ${JSON.stringify(raw)}`);
      }
    }),
    { numRuns: 300, seed },
  );
  assert.ok(count > 50, `only ${count} texts were known`);
});

void test('it knows the usual texts', () => {
  const cases: [string, string][] = [
    ['text', 'text'],
    [' a  b ', ' a  b '],
    ['\n  a\n  b\n', 'a b'],
    ['\n  ', ''],
    [' a\n\n\tb', ' a b'],
    ['a&nbsp;&amp;', 'a\u00a0&'],
  ];
  for (const [raw, text] of cases) assert.equal(known(`<p>${raw}</p>`), text);
  for (const raw of ['a\tb', 'a&#32;\n', '\u00a0']) assert.equal(known(`<p>${raw}</p>`), undefined);
});

void test('escaping is that of react-dom', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", 'a', '\u0000', 'é'), maxLength: 8 }),
      (text) => {
        assert.equal(escapeHtml(text), own.server.renderToStaticMarkup(text));
      },
    ),
    { seed },
  );
});
