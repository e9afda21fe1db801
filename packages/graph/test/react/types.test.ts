// Hooks that know a schema, as the compiler sees them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { z } from 'zod';
import { Model, ref } from '../../src/index.js';
import { GraphProvider, graphHooks } from '../../src/react/index.js';
import { callable, refTo, typedGraph } from '../../src/router/index.js';

const graph = typedGraph()({
  list: { '{integers}': refTo('titles[{integers}]') },
  titles: { '{integers}': { name: z.string(), price: z.number() } },
  me: { votes: z.number(), add: callable(z.tuple([z.string()])) },
});
const { useGraph, useModel, useValue } = graphHooks<typeof graph.schema>();

const model = new Model({
  cache: { list: { 0: ref(['titles', 1]) }, titles: { 1: { name: 'One', price: 7 } }, me: { votes: 3 } },
});

function show(component: () => ReactElement): string {
  return renderToStaticMarkup(createElement(GraphProvider, { model }, createElement(component)));
}

void test('values have the types of the schema, also at keys that are known when the program runs', () => {
  const place = Number('0');
  const html = show(() => {
    const votes: number | undefined = useValue('me.votes');
    const name: string | undefined = useValue(`list[${place}].name`);
    const json = useGraph(`list[${place}]["name","price"]`, 'me.votes');
    const price: number | undefined = json?.list?.[place]?.price;
    const again: number | undefined = json?.me?.votes;
    return createElement('p', null, votes, name, price, again);
  });
  assert.equal(html, '<p>3One73</p>');
});

void test('paths and values that the schema does not have do not compile', () => {
  // Never rendered: what counts is that the compiler refuses each line.
  const Never = (): null => {
    // @ts-expect-error -- No such branch.
    useValue('you.votes');
    // @ts-expect-error -- No such field.
    useValue('me.vote');
    // @ts-expect-error -- No such field of one of them.
    useGraph('list[0]["name","cost"]');
    // @ts-expect-error -- A path ends at a value.
    useGraph('list[0..9].name', 'me');
    // @ts-expect-error -- It is a number.
    const text: string | undefined = useValue('titles[1].price');
    const own = useModel();
    // @ts-expect-error -- A number is set.
    void own.setValue('me.votes', 'four');
    // @ts-expect-error -- The function takes a string.
    void own.call('me.add', [4]);
    void own.setValue('me.votes', 4);
    void own.call('me.add', ['sku']);
    return text === undefined ? null : null;
  };
  assert.equal(typeof Never, 'function');
});
