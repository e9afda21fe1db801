// Data in markup breaks out of nothing, and comes back as it was. An HTML parser is the judge.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { parseFragment, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { test } from 'node:test';
import { seed } from '../../../../tests/support/chance.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { serialize, toScript } from '../../src/fragments/markup.js';
import { createRegistry } from '../../src/registry/registry.js';
import { breaking } from '../support/breaking.js';
import { resultOf } from '../support/serve.js';

const data = fc.dictionary(breaking, fc.oneof(breaking, fc.jsonValue(), fc.array(breaking)));

/** As a browser's own code reads it. */
function decode(text: string): unknown {
  const json = text.slice('<!--'.length, -'-->'.length).replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return JSON.parse(json);
}

function attributes({ attrs }: Tree.Element): Record<string, string> {
  return Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
}

function textOf(node: Tree.Element): string {
  return node.childNodes
    .map((child) => ('value' in child ? child.value : assert.fail(child.nodeName)))
    .join('');
}

/** The div and the script of a fragment; fails where there is anything else. */
function partsOf(html: string): readonly [Tree.Element, Tree.Element] {
  const nodes = parseFragment(html).childNodes;
  assert.deepEqual(
    nodes.map(({ nodeName }) => nodeName),
    ['div', '#text', 'script'],
    html,
  );
  return [nodes[0] as Tree.Element, nodes[2] as Tree.Element];
}

/** JSON has no undefined, and no -0; what is named `__proto__` is left out. */
function kept(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) =>
    key === '__proto__' ? undefined : each,
  ) as unknown;
}

void test('whatever the data, there is one place and one script, and the data comes back', () => {
  fc.assert(
    fc.property(fc.string(), data, (name, given) => {
      const [place, script] = partsOf(serialize(name, '<b>text</b>', given));
      assert.deepEqual(attributes(place), {
        'data-hypernova-key': name.replaceAll(/\W/g, ''),
        'data-hypernova-id': attributes(script)['data-hypernova-id'],
      });
      assert.equal(place.childNodes.length, 1);
      assert.deepEqual(decode(textOf(script)), kept(given));
    }),
    { seed, numRuns: 2_000 },
  );
});

void test('attributes of scripts break out of nothing', () => {
  fc.assert(
    fc.property(breaking, breaking, data, (name, value, given) => {
      const nodes = parseFragment(toScript({ [`x${name}`]: value, id: '1' }, given)).childNodes;
      assert.deepEqual(
        nodes.map(({ nodeName }) => nodeName),
        ['script'],
      );
      const own = attributes(nodes[0] as Tree.Element);
      for (const key of Object.keys(own)) assert.match(key, /^(?:type|data-[0-9a-z_-]+)$/);
      assert.deepEqual(decode(textOf(nodes[0] as Tree.Element)), kept(given));
    }),
    { seed, numRuns: 1_000 },
  );
});

void test('data that goes through a batch and back is inert', async () => {
  const registry = createRegistry();
  registry.register('Box', () => '');
  const fragments = createFragments({ registry });
  await fc.assert(
    fc.asyncProperty(data, async (given) => {
      const jobs = JSON.parse(JSON.stringify({ a: { name: 'Box', data: given } })) as Record<string, unknown>;
      const answer = JSON.parse(JSON.stringify(await fragments.batch(jobs))) as Awaited<
        ReturnType<typeof fragments.batch>
      >;
      const [, script] = partsOf(resultOf(answer, 'a').html ?? assert.fail());
      assert.deepEqual(decode(textOf(script)), kept(given));
    }),
    { seed, numRuns: 300 },
  );
});

void test('undefined is null to the browser', () => {
  assert.match(toScript({ id: '1' }, undefined), /<!--null-->/);
});
