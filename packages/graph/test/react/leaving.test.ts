// Clients who leave while their page is made: nothing is asked for any more.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as requestOf } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { createPages, createRegistry, leaveSignal, respond } from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement } from 'react';
import { createPageGraph } from '../../src/page/server.js';
import { sourceUntil } from '../../src/page/leaving.js';
import { route, Router } from '../../src/router/index.js';
import type { DataSource, SourceOptions } from '../../src/types.js';
import { useGraph, useValue } from '../../src/react/index.js';
import { serve } from '../wire/support.js';

void test('a client who leaves ends the requests of its page, and its routes are called no more', async (t) => {
  const called: string[] = [];
  const signals: AbortSignal[] = [];
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const router = new Router(
    [
      route('list[{integers:places}]', {
        get: async ({ places }, { signal }) => {
          called.push('list');
          signals.push(signal);
          isAsked();
          // A service that does not look at signals.
          await answered;
          return places.map((place) => ({
            path: ['list', place],
            value: { $type: 'ref', value: ['titles', place] },
          }));
        },
      }),
      route('titles[{integers:ids}].name', {
        get: ({ ids }) => {
          called.push('titles');
          return ids.map((id) => ({ path: ['titles', id, 'name'], value: `Title ${id}` }));
        },
      }),
    ],
    { onError: () => undefined },
  );
  const Row = ({ at }: { readonly at: number }): ReactElement =>
    createElement('p', null, JSON.stringify(useGraph(['list', at, 'name'])));
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Row', Row);
  const pages = createPages({ registry, onError: () => undefined });
  let isOver = (): void => undefined;
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const url = await serve(t, async (request, response) => {
    const graph = createPageGraph({ source: router.asDataSource(), signal: leaveSignal(response) });
    const boxes = [0, 1].map((at) => ({ component: 'Row', props: { at } }));
    await graph.run(() => respond(pages, request, response, { boxes }));
    isOver();
  });
  const client = requestOf(url);
  client.on('error', () => undefined);
  client.end();
  await asked;
  client.destroy();
  const [signal] = signals;
  if (signal?.aborted === false) await once(signal, 'abort');
  answer();
  await over;
  await turn();
  assert.deepEqual(called, ['list']);
});

void test('a page whose client has left asks for nothing', async () => {
  let calls = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const graph = createPageGraph({
    source: {
      get: (paths) => {
        calls += 1;
        return Promise.resolve({ jsonGraph: { a: 1 }, paths });
      },
    },
    signal,
  });
  // A request that is collected, and not sent yet.
  const waiting = graph.model.getValue('a');
  const left = new Error('left');
  controller.abort(left);
  await assert.rejects(waiting, left);
  await assert.rejects(graph.model.getValue('b'), left);
  assert.equal(calls, 0);
});

void test('a source keeps what it is, and its readers can leave before the client', async () => {
  const given: (SourceOptions | undefined)[] = [];
  class Source implements DataSource {
    readonly value = 1;

    get(_paths: unknown, options?: SourceOptions) {
      given.push(options);
      return Promise.resolve({ jsonGraph: { a: this.value } });
    }

    set(_envelope: unknown, options?: SourceOptions) {
      given.push(options);
      return Promise.resolve({ jsonGraph: { a: this.value } });
    }
  }
  const page = new AbortController();
  const reader = new AbortController();
  const source = sourceUntil(page.signal, new Source());
  assert.deepEqual(await source.get([['a']], { signal: reader.signal }), { jsonGraph: { a: 1 } });
  assert.deepEqual(await source.set?.({ jsonGraph: { a: 2 } }), { jsonGraph: { a: 1 } });
  assert.equal('call' in source, false);
  reader.abort();
  assert.equal(given[0]?.signal?.aborted, true);
  assert.equal(given[1]?.signal?.aborted, false);
  page.abort();
  assert.equal(given[1]?.signal?.aborted, true);
});

void test('a second copy of the package makes pages as well as the first', async () => {
  const first = createPageGraph({ cache: { me: 'first' } });
  const address: string = new URL('../../src/page/server.js?copy', import.meta.url).href;
  const copy = (await import(address)) as { createPageGraph: typeof createPageGraph };
  assert.notEqual(copy.createPageGraph, createPageGraph);
  const second = copy.createPageGraph({ cache: { me: 'second' } });
  const { renderToString } = await import('react-dom/server');
  const Me = (): ReactElement => createElement('b', null, useValue<string>('me'));
  for (const [graph, html] of [
    [first, '<b>first</b>'],
    [second, '<b>second</b>'],
  ] as const)
    assert.equal(
      graph.run(() => renderToString(createElement(Me))),
      html,
    );
});
