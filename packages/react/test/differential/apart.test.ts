/**
 * Why the generator keeps `use` and promises among children apart (`apart` in `generate.ts`): where the first is given up,
 * react-dom takes its promise for one of the second. Sluice does not, and once react-dom does not, `apart` can go.
 */

import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { packageFolder } from './fuzz.ts';
import { loadReact, loadSluice } from './libraries.ts';
import type { Renderer } from './observe.ts';
import type { React as ReactOf } from './world.ts';

process.env['NODE_ENV'] = 'production';

/** A component that suspends, and throws when it is asked again; behind it a promise that has settled with 'own'. */
async function rendered(renderer: Renderer, React: ReactOf): Promise<string> {
  const { createElement: h, Suspense, use } = React;
  const foreign = Promise.resolve('foreign');
  let passes = 0;
  const GivenUp = (): string => {
    passes += 1;
    if (passes > 1) throw new Error('given up');
    return use(foreign);
  };
  const own = Promise.resolve('own');
  // The wait of the first boundary is over before that of the second is asked for.
  const Later = (): unknown => own;
  const page = h(
    'main',
    null,
    h(Suspense, { fallback: 'failed' }, h(GivenUp)),
    h(Suspense, { fallback: 'waiting' }, h(Later as never)),
  );
  let html = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      html += chunk.toString();
      done();
    },
  });
  await new Promise<void>((resolve) => {
    const { pipe } = renderer.renderToPipeableStream(page, {
      onAllReady: () => pipe(sink),
      onError: () => undefined,
    });
    sink.once('finish', resolve);
  });
  return html;
}

void test('a promise among children shows its own value, whatever was given up before', async () => {
  const { React, stock } = loadReact(packageFolder);
  const sluice = await loadSluice(packageFolder);
  const html = await rendered(sluice, React);
  assert.match(html, /own/);
  assert.doesNotMatch(html, /foreign/);
  assert.match(await rendered(stock, React), /foreign/, 'react-dom does it right now: `apart` can go');
});
