// HTML of which the service says that a part has failed: no cache keeps it, here or further on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement, type ReactElement, Suspense } from 'react';
import { react } from '../../src/adapters/react.js';
import { createFragments, fragmentsOf } from '../../src/fragments/fragments.js';
import { renderReact } from '../../src/fragments/hypernova-react.js';
import { hypernovaSource } from '../../src/fragments/hypernova-source.js';
import { createServer } from '../../src/http/handler.js';
import { createRegistry } from '../../src/registry/registry.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { createRemote } from '../../src/remote/remote.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { listen } from '../support/server.js';

// A busy machine is no reason for holes.
const queue = createTaskQueue({ budgetMs: 600_000, timeoutMs: 600_000 });
const { signal } = new AbortController();
let fails = true;
let renders = 0;

function Inner(): ReactElement {
  renders += 1;
  if (fails) throw new Error('this time');
  return createElement('b', null, 'data');
}

const Recs = (): ReactElement => createElement(Suspense, { fallback: 'waits' }, createElement(Inner));

const registry = createRegistry({ adapters: [react({ onError: () => undefined })] });
registry.register('Recs', Recs, { rendering: 'static' });
const service = createFragments({ registry, queue });

void test('HTML with a boundary that failed at the service is asked for again, and whole HTML is cached', async (t) => {
  const url = `${await listen(t, createServer([service.handle]))}/batch`;
  const remote = createRemote({ url, timeoutMs: 60_000 });
  const ask = async () => remote.render('Recs', {}, 60, signal);
  fails = true;
  for (let time = 0; time < 2; time += 1) {
    const { html, ...rest } = await ask();
    assert.match(html, /waits/);
    assert.deepEqual(rest, { isCached: false, isPartial: true });
  }
  fails = false;
  const { html, ...rest } = await ask();
  assert.match(html, /<b>data/);
  assert.deepEqual(rest, { isCached: false, isPartial: false });
  const before = renders;
  assert.equal((await ask()).isCached, true);
  assert.equal(renders, before);
});

void test('an answer says that it is partial, also through another service, and says nothing otherwise', async (t) => {
  const url = `${await listen(t, createServer([service.handle]))}/batch`;
  const between = createRegistry({ adapters: [remoteAdapter] });
  const component = createRemote({ url, timeoutMs: 60_000 }).component('Recs', { cacheS: 60 });
  between.register('Recs', component, { rendering: 'static' });
  const moved = fragmentsOf(
    hypernovaSource(() => renderReact('Recs', Recs)),
    { queue },
    {},
  );
  for (const fragments of [service, createFragments({ registry: between, queue }), moved]) {
    for (fails of [true, true, false]) {
      const { results } = await fragments.batch({ a: { name: 'Recs', data: {} } });
      assert.equal(results['a']?.success, true);
      assert.equal(results['a'].partial, fails ? true : undefined);
      assert.equal(JSON.stringify(results).includes('"partial"'), fails);
    }
  }
});

void test('services of others, which say nothing of it or no boolean, are cached as before', async (t) => {
  for (const partial of [undefined, false, 'true', 1, null]) {
    let asked = 0;
    const origin = await listen(t, (request, response) => {
      asked += 1;
      request.resume();
      const results = { j0: { html: '<p>Recs</p>', success: true, partial } };
      response.end(JSON.stringify({ success: true, error: null, results }));
    });
    const remote = createRemote({ url: `${origin}/batch`, timeoutMs: 60_000 });
    for (let time = 0; time < 2; time += 1) await remote.render('Recs', {}, 60, signal);
    assert.equal(asked, 1);
  }
});
