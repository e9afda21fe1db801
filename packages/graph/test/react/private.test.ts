// Values of visitors and the caches of HTML: what shows the graph is made for each page.
import { mode } from './production.js';
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { Cached } from '@sluice/react';
import * as sluice from '@sluice/react/server';
import {
  createPages,
  createRegistry,
  createTaskQueue,
  type PageTree,
  type RenderOptions,
  type Settings,
} from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement, type ReactNode, Suspense } from 'react';
import type * as dom from 'react-dom/server';
import { createPageGraph, type PageGraph } from '../../src/page/server.js';
import { GraphProvider, useModel, useValue } from '../../src/react/index.js';
import { stream } from './hooks.js';

function Me(): ReactElement {
  return createElement('b', null, `I am ${String(useValue('me.name'))}.`);
}

/** Reads behind a boundary, whose HTML comes late. */
function Late(): ReactElement {
  return createElement(Suspense, { fallback: '…' }, createElement(Me));
}

/** Gives the model by a provider of its own. */
function Own(): ReactElement {
  return createElement(GraphProvider, { model: useModel().batch(0) }, createElement(Me));
}

/** Asks for the model, and reads without a hook. */
function Direct(): ReactElement {
  const { json } = useModel().read<{ me: { name: string } }>('me.name');
  return createElement('b', null, `I am ${json?.me.name}.`);
}

/** A frame that reads nothing itself, around one that does. */
function Frame({ children }: { readonly children?: ReactNode }): ReactElement {
  return createElement('div', null, children, createElement(Me));
}

let renders = 0;
function Title({ of }: { readonly of: string }): ReactElement {
  renders += 1;
  return createElement('h1', null, of);
}

let order = 1;
function graphOf(name: string, signal?: AbortSignal): PageGraph {
  return createPageGraph({
    source: {
      async get(paths) {
        order = (order * 75 + 74) % 65_537;
        await sleep(order % 4);
        return { jsonGraph: { me: { name } }, paths };
      },
    },
    ...(signal && { signal }),
  });
}

const kept: Settings = { cacheKey: () => 'one for all', rendering: 'server' };
const registry = createRegistry({ adapters: [react()] });
for (const [name, view] of Object.entries({ Me, Late, Own, Frame }))
  registry.register(name, view as () => ReactElement, kept);
registry.register('Title', Title, { cacheKey: ({ of }) => of });
// A busy machine is no reason for holes.
const queue = createTaskQueue({ budgetMs: 600_000, timeoutMs: 600_000 });
const pages = createPages({ registry, queue, deadlineMs: 600_000 });

async function pageOf(graph: PageGraph, tree: PageTree, options: RenderOptions = {}): Promise<string> {
  return graph.run(async () => {
    const document = { bodyEnd: () => graph.script() };
    const { body } = await pages.render(tree, {}, { document, ...options });
    return typeof body === 'string' ? body : text(body);
  });
}

for (const name of ['Me', 'Late', 'Own', 'Frame'])
  void test(`HTML of ${name}, which has a cacheKey, is no other visitor's`, async () => {
    const tree: PageTree = { boxes: [{ component: 'Title', props: { of: name } }, { component: name }] };
    const before = renders;
    const htmls = await Promise.all(
      ['ann', 'bob', 'cat'].map((who) => pageOf(graphOf(who), tree, { fill: 'as-ready' })),
    );
    htmls.push(await pageOf(graphOf('dan'), tree, { delivery: 'whole' }));
    htmls.push(await pageOf(graphOf('eve'), tree, { format: 'html' }));
    for (const [at, who] of ['ann', 'bob', 'cat', 'dan', 'eve'].entries()) {
      const found = Array.from(htmls[at]?.matchAll(/I am (\w+)\./gu) ?? [], ([, one]) => one);
      assert.deepEqual(found, [who]);
      // And the browser has the value without a request.
      assert.match(htmls[at] ?? '', new RegExp(`data-sluice-graph>\\{"me":\\{"name":"${who}"\\}\\}<`, 'u'));
    }
    // What reads nothing is kept as ever.
    assert.equal(renders, before + 1);
  });

void test("HTML within <Cached> that shows the graph is no other visitor's", async () => {
  assert.equal(mode, 'production');
  const Gate = (): ReactElement => {
    // The value is there by the time that what is kept reads it.
    useValue('me.name');
    return createElement('p', null, createElement(Cached, { cacheKey: 'all' }, createElement(Me)));
  };
  const whole = createElement(
    'main',
    null,
    createElement(Gate),
    createElement(
      Suspense,
      { fallback: '…' },
      createElement(Cached, { cacheKey: 'awaits', awaits: true }, createElement(Me)),
    ),
  );
  for (const who of ['ann', 'bob', 'cat']) {
    const graph = graphOf(who);
    const html = await graph.run(() => stream(sluice as unknown as typeof dom, whole));
    const found = Array.from(html.matchAll(/I am (\w+)\./gu), ([, one]) => one);
    assert.deepEqual(found, [who, who]);
  }
});

void test("HTML within <Cached> that shows the model is no other visitor's", async () => {
  assert.equal(mode, 'production');
  const kept = createElement(Cached, { cacheKey: 'direct' }, createElement(Direct));
  for (const name of ['ann', 'bob', 'cat']) {
    const graph = createPageGraph({ cache: { me: { name } } });
    const html = await graph.run(() => stream(sluice as unknown as typeof dom, kept));
    assert.match(html, new RegExp(`I am ${name}\\.`, 'u'));
  }
});

void test('10,000 pages of visitors at once, whose values come in any order, have no foreign byte', async () => {
  const components = ['Late', 'Title'];
  const tree: PageTree = {
    boxes: components.map((component) => ({ component, props: { of: 'all' }, slots: {} })),
  };
  let at = 0;
  const visits = async (): Promise<void> => {
    while (at < 10_000) {
      at += 1;
      const who = `v${at}x`;
      const fill = at % 2 === 0 ? 'as-ready' : 'in-order';
      const html = await pageOf(graphOf(who), tree, { fill });
      const names = Array.from(html.matchAll(/v\d+x/gu), ([one]) => one);
      assert.equal(names.length, 2, html);
      assert.ok(names.every((one) => one === who));
    }
  };
  await Promise.all(Array.from({ length: 200 }, visits));
});
