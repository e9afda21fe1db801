/**
 * Why the generator keeps lazy components from promises before 19.2 (`fitFor` in `generate.ts`): react-dom hands what an earlier
 * component has used on to what comes of a lazy one.
 */

import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type * as ReactModule from 'react';
import type { Renderer } from '../differential/observe.ts';
import { loadReact, loadSluice } from '../differential/libraries.ts';

function fulfilled(value: string): Promise<string> {
  return Object.assign(Promise.resolve(value), { status: 'fulfilled', value });
}

function rendered(renderer: Renderer, React: typeof ReactModule): Promise<string> {
  const foreign = fulfilled('foreign');
  const own = fulfilled('own');
  const Before = (): unknown => React.use(foreign);
  const Late = React.lazy(() => Promise.resolve({ default: () => React.use(own) }));
  const page = React.createElement(
    'main',
    null,
    React.createElement(Before as never),
    React.createElement('b', null, React.createElement(Late)),
  );
  return new Promise((resolve, reject) => {
    const { pipe } = renderer.renderToPipeableStream(page, {
      onAllReady: () => resolve(text(pipe(new PassThrough()) as PassThrough)),
      onShellError: reject,
    });
  });
}

export function keepsPromisesApart(minor: string, folder: string): void {
  void test(`a lazy component uses its own promise, unlike react-dom ${minor}`, async () => {
    const { React, stock } = loadReact(folder);
    const own = await rendered(await loadSluice(folder), React);
    assert.equal(own, '<main>foreign<b>own<!-- --></b></main>');
    const theirs = await rendered(stock, React);
    assert.equal(theirs, '<main>foreign<b>foreign<!-- --></b></main>', '`fitFor` can go');
  });
}
