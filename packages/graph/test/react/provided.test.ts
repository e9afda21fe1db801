// A model that comes by a provider, in a process without @sluice/react and without a page graph: HTML of it is kept for nobody else.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { createPages, createRegistry } from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement, type ReactNode } from 'react';
import * as dom from 'react-dom/server';
import { Model } from '../../src/index.js';
import { GraphProvider, useModel, useValue } from '../../src/react/index.js';

const models = new AsyncLocalStorage<Model>();

function Wrap({ children }: { readonly children: ReactNode }): ReactElement {
  return createElement(GraphProvider, { model: models.getStore() ?? new Model() }, children);
}

function Name(): ReactElement {
  return createElement('b', null, `I am ${String(useValue('me.name'))}.`);
}

function Direct(): ReactElement {
  const { json } = useModel().read<{ me: { name: string } }>('me.name');
  return createElement('b', null, `I am ${json?.me.name}.`);
}

let renders = 0;
function Title(): ReactElement {
  renders += 1;
  return createElement('h1', null, 'Title');
}

const registry = createRegistry({ adapters: [react({ server: dom, wrap: Wrap })] });
for (const [name, view] of Object.entries({ Name, Direct, Title }))
  registry.register(name, view, { cacheKey: () => 'one for all', rendering: 'server' });
const pages = createPages({ registry });

void test("HTML of a provider's model, of components that have a cacheKey, is no other visitor's", async () => {
  const boxes = ['Name', 'Direct', 'Title'].map((component) => ({ component }));
  for (const name of ['ann', 'bob', 'cat']) {
    const model = new Model({ cache: { me: { name } } });
    const { body } = await models.run(model, () => pages.render({ boxes }, {}, { delivery: 'whole' }));
    assert.ok(typeof body === 'string');
    const found = Array.from(body.matchAll(/I am (\w+)\./gu), ([, one]) => one);
    assert.deepEqual(found, [name, name]);
  }
  // What asks for no model is kept as ever.
  assert.equal(renders, 1);
});
