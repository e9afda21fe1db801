// Graphs that no honest server sends, and models that meet in one page.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { type JsonGraph, Model } from '../../src/index.js';
import { createPageGraph } from '../../src/page/server.js';
import { GraphProvider, useGraph, useValue } from '../../src/react/index.js';

/** Text of the script of a page that has read the paths. */
function stateOf(cache: JsonGraph, ...paths: (readonly string[])[]): string {
  const graph = createPageGraph({ cache });
  const Reads = (): ReactElement => createElement('p', null, JSON.stringify(useGraph(...paths)) ?? '');
  graph.run(() => renderToString(createElement(Reads)));
  return (
    /^<script type="application\/json" data-sluice-graph>(.*)<\/script>$/su.exec(graph.script())?.[1] ?? ''
  );
}

const EVIL = [
  '</script><script>alert(1)</script>',
  '<!--',
  '\u2028\u2029',
  '__proto__',
  'constructor',
  '"\\',
];

void test('keys and values that look like code come back as they were, and break out of nothing', () => {
  for (const key of EVIL)
    for (const value of EVIL) {
      const cache = JSON.parse(`{"a":{${JSON.stringify(key)}:${JSON.stringify(value)}}}`) as JsonGraph;
      const text = stateOf(cache, ['a', key]);
      assert.doesNotMatch(text, /[<\u2028\u2029]/u);
      const browser = new Model();
      browser.merge({ jsonGraph: JSON.parse(text) as JsonGraph });
      const { json, missing } = browser.read<{ a: Record<string, string> }>(['a', key]);
      assert.deepEqual(missing, []);
      assert.equal(Object.getOwnPropertyDescriptor(json?.a ?? {}, key)?.value, value);
    }
  assert.equal(({} as { a?: unknown }).a, undefined);
});

void test('a path of the greatest depth is in the state', () => {
  const deep = Array.from({ length: 256 }, (_, at) => `k${at}`);
  let cache: JsonGraph | number = 1;
  for (const key of deep.toReversed()) cache = { [key]: cache };
  const browser = new Model();
  browser.merge({ jsonGraph: JSON.parse(stateOf(cache as JsonGraph, deep)) as JsonGraph });
  assert.deepEqual(browser.read(deep).missing, []);
});

void test('two models in one page stay apart, and the state is of the page', async () => {
  const sourceOf = (value: string) => ({
    get: async (paths: readonly unknown[]) => {
      await sleep(1);
      return { jsonGraph: { a: value, own: value }, paths: paths as never };
    },
  });
  const graph = createPageGraph({ source: sourceOf('of the page') });
  const other = new Model({ source: sourceOf('of the other') });
  await Promise.all([graph.model.getValue('a'), other.getValue('a')]);
  // Known to both, and read by a component of the other alone.
  await Promise.all([graph.model.getValue('own'), other.getValue('own')]);
  const Value = (): ReactElement => createElement('b', null, useValue<string>('a'));
  const Own = (): ReactElement => createElement('i', null, useValue<string>('own'));
  const html = graph.run(() =>
    renderToString(
      createElement(
        'p',
        null,
        createElement(Value),
        createElement(GraphProvider, { model: other }, createElement(Value), createElement(Own)),
      ),
    ),
  );
  assert.equal(html, '<p><b>of the page</b><b>of the other</b><i>of the other</i></p>');
  assert.match(graph.script(), /\{"a":"of the page"\}/u);
});
