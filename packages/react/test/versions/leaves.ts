/** What react-dom leaves behind or says twice, and the renderer does not. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { loadReact, loadSluice } from '../differential/libraries.ts';
import { later, awaited, within } from './waiting.ts';

export function leavesNothing(minor: string, folder: string): void {
  void test(`React ${minor}: a render that ended listens to no signal`, async (t) => {
    const { React, stock } = loadReact(folder);
    if (stock.renderToReadableStream === undefined) return t.skip('react-dom has no web streams for Node');
    const sluice = await loadSluice(folder);
    const { signal } = new AbortController();
    const stream = await sluice.renderToReadableStream?.(React.createElement('p', null, 'text'), { signal });
    assert.equal(await new Response(stream).text(), '<p>text</p>');
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  void test(`React ${minor}: all is ready once, also when a fallback is not needed any more, and the destination is ended once`, async () => {
    const { React } = loadReact(folder);
    const sluice = await loadSluice(folder);
    const { createElement } = React;
    const [content, contentCame] = later();
    const [never] = later();
    const Content = (): unknown => awaited(React, content);
    const Fallback = (): unknown => awaited(React, never);
    const page = within(React, createElement(Fallback as never), createElement(Content as never));
    const calls: string[] = [];
    const destination = new Writable({ write: (_chunk, _encoding, done) => done() });
    const end = destination.end.bind(destination);
    destination.end = () => {
      calls.push('end');
      return end();
    };
    const { pipe } = sluice.renderToPipeableStream(createElement('main', null, page), {
      onAllReady: () => calls.push('all ready'),
    });
    pipe(destination);
    setImmediate(contentCame);
    await new Promise((resolve) => destination.on('close', resolve));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(calls, ['all ready', 'end']);
  });
}
