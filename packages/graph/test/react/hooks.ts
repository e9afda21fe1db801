// Components that read the graph on the server, by one line of React: `server.test.ts` and `react18.test.ts` run them.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import * as sluice from '@sluice/react/server';
import { createPages, createRegistry } from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement, Suspense, version } from 'react';
import * as dom from 'react-dom/server';
import { atom, type DataSource, error, type JsonGraph, type PathSet, ref } from '../../src/index.js';
import { pick } from '../../src/page/pick.js';
import { createPageGraph, type PageGraph } from '../../src/page/server.js';
import { GraphProvider, useGraph } from '../../src/react/index.js';

export const TITLES = 60;

/** Graph of a list whose titles lie behind references. */
export function catalogue(name = 'Title'): JsonGraph {
  const list: Record<string, ReturnType<typeof ref>> = {};
  const titles: Record<string, JsonGraph> = {};
  for (let at = 0; at < TITLES; at += 1) {
    list[at] = ref(['titles', 100 + at]);
    titles[100 + at] = { name: `${name} ${at}`, price: at, secret: 'not asked for' };
  }
  return { list, titles };
}

export interface Counted extends DataSource {
  readonly asked: (readonly PathSet[])[];
}

/** Source that answers a turn later, what was asked for and no more. */
export function sourceOf(graph: JsonGraph): Counted {
  const asked: (readonly PathSet[])[] = [];
  return {
    asked,
    async get(paths) {
      asked.push(paths);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return { jsonGraph: pick(graph, paths), paths };
    },
  };
}

export interface Title {
  readonly name: string;
  readonly price: number;
}

export function Row({ at }: { readonly at: number }): ReactElement {
  const title = useGraph<{ list: Record<number, Title> }>(['list', at, ['name', 'price']])?.list[at];
  return createElement('li', null, `${title?.name}: ${title?.price}`);
}

export async function stream(renderer: typeof dom, element: ReactElement): Promise<string> {
  const out = new PassThrough();
  const html = text(out);
  // React 18 says that all is ready where nothing is, and destroys what it is piped to.
  html.catch(() => undefined);
  await new Promise<void>((resolve, reject) => {
    const { pipe } = renderer.renderToPipeableStream(element, {
      onAllReady: () => {
        pipe(out);
        resolve();
      },
      onShellError: reject,
      onError: () => undefined,
    });
  });
  return html;
}

const rows = Array.from({ length: TITLES }, (_, at) =>
  createElement(Suspense, { key: at, fallback: '…' }, createElement(Row, { at })),
);

/** A page of boxes of `@sluice/render`, each of which asks by itself. */
export async function page(graph: PageGraph, count = TITLES): Promise<string> {
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Row', Row);
  const pages = createPages({ registry });
  const boxes = Array.from({ length: count }, (_, at) => ({ component: 'Row', props: { at } }));
  return graph.run(async () => {
    const { body } = await pages.render({ boxes }, {}, { delivery: 'whole' });
    return typeof body === 'string' ? body : text(body);
  });
}

/** Registers the tests. */
export function hooksOnServer(line: string): void {
  void test(`React is of ${line}`, () => assert.ok(version.startsWith(`${line}.`), version));

  for (const [name, renderer] of [
    ['react-dom', dom],
    ['@sluice/react', sluice as unknown as typeof dom],
  ] as const) {
    const of = `${name} ${version}`;
    void test(`${of}: components that ask apart share a request`, async () => {
      const source = sourceOf(catalogue());
      const graph = createPageGraph({ source });
      const html = await graph.run(() => stream(renderer, createElement('ul', null, rows)));
      assert.equal(source.asked.length, 1);
      for (let at = 0; at < TITLES; at += 1)
        assert.ok(html.includes(`<li>Title ${at}: ${at}</li>`), `row ${at}`);
    });

    void test(`${of}: what reads a value to ask for the next makes one request for each level`, async () => {
      const source = sourceOf({ me: { favourite: 101 }, ...catalogue() });
      const Favourite = (): ReactElement => {
        const id = useGraph<{ me: { favourite: number } }>('me.favourite')?.me.favourite ?? -1;
        const titles = useGraph<{ titles: Record<number, Title> }>(['titles', id, 'name'])?.titles;
        return createElement('b', null, titles?.[id]?.name);
      };
      const graph = createPageGraph({ source });
      const two = createElement('p', null, createElement(Favourite), createElement(Favourite));
      const html = await graph.run(() => stream(renderer, two));
      assert.equal(html, '<p><b>Title 1</b><b>Title 1</b></p>');
      assert.equal(source.asked.length, 2);
    });

    void test(`${of}: an error of the graph reaches the boundary, and nothing is asked twice`, async () => {
      const source = sourceOf({ ...catalogue(), list: { 0: error('gone') } });
      const failing = createElement(Suspense, { fallback: 'fallback' }, createElement(Row, { at: 0 }));
      const graph = createPageGraph({ source });
      const html = await graph.run(() => stream(renderer, createElement('div', null, failing)));
      assert.match(html, /<!--\$!-->.*fallback/su);
      assert.equal(source.asked.length, 1);
    });

    void test(`${of}: a source that fails is asked once, and its error is the component's`, async () => {
      let calls = 0;
      const source: DataSource = {
        get: () => {
          calls += 1;
          return Promise.reject(new Error('the source is down'));
        },
      };
      const graph = createPageGraph({ source });
      await assert.rejects(
        graph.run(() => stream(renderer, createElement('ul', null, createElement(Row, { at: 0 })))),
        /the source is down/u,
      );
      assert.equal(calls, 1);
    });
  }

  void test(`60 boxes of React ${version} that ask apart make one request`, async () => {
    for (const warm of [false, true]) {
      const source = sourceOf(catalogue());
      const html = await page(createPageGraph({ source }));
      for (let at = 0; at < TITLES; at += 1) assert.ok(html.includes(`Title ${at}: ${at}`), `row ${at}`);
      assert.equal(source.asked.length, 1, `warm: ${warm}`);
    }
  });

  void test(`values that expire at once are shown to those who waited for them, React ${version}`, async () => {
    const source = sourceOf({ list: { 0: { name: atom('once', { $expires: 0 }), price: 1 } } });
    const html = await createPageGraph({ source }).run(() => stream(dom, createElement(Row, { at: 0 })));
    assert.equal(html, '<li>once: 1</li>');
    assert.equal(source.asked.length, 1);
  });

  void test(`a provider gives a branch, and what is read below it is in the state, React ${version}`, async () => {
    const source = sourceOf(catalogue());
    const graph = createPageGraph({ source });
    const envelope = await graph.model.get<{ list: Record<number, Title> }>('list[1].name');
    const Name = (): ReactElement => createElement('i', null, useGraph<{ price: number }>('price')?.price);
    const model = graph.model.deref(envelope?.json.list[1]);
    const html = await graph.run(() =>
      stream(dom, createElement(GraphProvider, { model }, createElement(Name))),
    );
    assert.equal(html, '<i>1</i>');
    assert.match(graph.script(), /\{"titles":\{"101":\{"price":1\}\}\}/u);
  });

  void test(`a component without a model says what to do, React ${version}`, () => {
    assert.throws(() => dom.renderToString(createElement(Row, { at: 0 })), /GraphProvider/u);
  });
}
