// Pages with a boundary of React that failed: no cache keeps them, as the browser has to make up for what is missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement, type ReactElement, Suspense } from 'react';
import * as server from 'react-dom/server';
import { react } from '../../src/adapters/react.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry } from '../../src/registry/registry.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { createRemote } from '../../src/remote/remote.js';
import { listen } from '../support/server.js';
import { textOf } from './support.js';

const headers = { 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'max-age=60' };

for (const [name, rendersBy] of Object.entries({ '@sluice/react': {}, 'react-dom': { server } })) {
  for (const [what, settings] of Object.entries({ plain: {}, keyed: { cacheKey: () => 'one' } })) {
    void test(`a page with a boundary that failed is for no cache, by ${name}, ${what}`, async () => {
      let fails = true;
      const Inner = (): ReactElement => {
        if (fails) throw new Error('this time');
        return createElement('b', null, 'data');
      };
      const Outer = (): ReactElement => createElement(Suspense, { fallback: 'waits' }, createElement(Inner));
      const registry = createRegistry({ adapters: [react({ ...rendersBy, onError: () => undefined })] });
      registry.register('Outer', Outer, settings);
      const pages = createPages({ registry, deadlineMs: 60_000 });
      const tree = { boxes: [{ component: 'Outer' }] };
      for (let time = 0; time < 2; time += 1) {
        fails = true;
        const partial = await pages.render(tree, {}, { delivery: 'whole', headers });
        assert.match(await textOf(partial), /waits/);
        assert.equal(partial.headers['cache-control'], 'no-store');
        assert.equal(partial.headers['cdn-cache-control'], undefined);
        const { outcomes, boxes } = await partial.report;
        assert.deepEqual(outcomes, { rendered: 1 });
        assert.deepEqual(
          boxes.map(({ isPartial }) => isPartial),
          [true],
        );
      }
      fails = false;
      const whole = await pages.render(tree, {}, { delivery: 'whole', headers });
      assert.match(await textOf(whole), /<b>data/);
      assert.equal(whole.headers['cache-control'], headers['cache-control']);
      assert.equal((await whole.report).boxes[0]?.isPartial, false);
      // What is kept now is whole.
      fails = what === 'keyed';
      const kept = await pages.render(tree, {}, { delivery: 'whole', headers });
      assert.equal(kept.headers['cache-control'], headers['cache-control']);
    });
  }
}

void test('a page with a box whose service says that a part of it has failed is for no cache', async (t) => {
  let partial: true | undefined = true;
  const origin = await listen(t, (request, response) => {
    request.resume();
    const results = { j0: { html: '<p>Recs</p>', success: true, partial } };
    response.end(JSON.stringify({ success: true, error: null, results }));
  });
  const registry = createRegistry({ adapters: [remoteAdapter] });
  const remote = createRemote({ url: `${origin}/batch`, timeoutMs: 60_000 });
  registry.register('Recs', remote.component('Recs', { cacheS: 60 }));
  const pages = createPages({ registry, deadlineMs: 60_000 });
  const tree = { boxes: [{ component: 'Recs' }] };
  const control = async (): Promise<unknown> => {
    const page = await pages.render(tree, {}, { delivery: 'whole', headers });
    assert.match(await textOf(page), /<p>Recs/);
    const { boxes } = await page.report;
    assert.equal(boxes[0]?.isPartial, page.headers['cache-control'] === 'no-store');
    return page.headers['cache-control'];
  };
  assert.equal(await control(), 'no-store');
  partial = undefined;
  assert.equal(await control(), headers['cache-control']);
  // The service's HTML is cached now.
  partial = true;
  assert.equal(await control(), headers['cache-control']);
});
