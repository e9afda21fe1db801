/**
 * `renderToString` gives up what waits in a boundary, but not what waits in the fallback of one that failed: until 19.2 that goes
 * on when what it waits for has come. Nobody sees its HTML, but what it loads is there for the next page.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as ReactModule from 'react';
import type { ReactNode } from 'react';
import { loadReact, loadSluice } from '../differential/libraries.ts';
import type { Renderer } from '../differential/observe.ts';

type React = typeof ReactModule;

/** The fallback of a boundary that failed waits in a boundary of its own. Returns the HTML, and how often it was asked again. */
async function attempts(
  React: React,
  server: Renderer,
  beside: ReactNode,
): Promise<readonly [string, number]> {
  let asked = 0;
  const came = Promise.resolve();
  const Late = (): ReactNode => {
    asked += 1;
    if (asked === 1) throw came;
    return 'came';
  };
  const Fails = (): ReactNode => {
    throw new Error('failed');
  };
  const { createElement, Suspense } = React;
  const fallback = createElement(Suspense, { fallback: 'waits' }, createElement(Late));
  const page = createElement(
    'div',
    null,
    createElement(Suspense, { fallback }, createElement(Fails)),
    beside,
  );
  let html: string;
  try {
    html = server.renderToString(page);
  } catch (error) {
    html = String(error);
  }
  await new Promise((done) => setTimeout(done, 5));
  return [html, asked];
}

export function goesOnAsReactDoes(minor: string, folder: string): void {
  void test(`React ${minor}: what waits in a fallback when a string is given out goes on as with react-dom`, async () => {
    const { React, stock } = loadReact(folder);
    const sluice = await loadSluice(folder);
    const Throws = (): ReactNode => {
      throw new Error('the page failed');
    };
    for (const beside of [null, React.createElement(Throws)]) {
      const expected = await attempts(React, stock, beside);
      assert.deepEqual(await attempts(React, sluice, beside), expected);
      if (minor === '18.3') assert.equal(expected[1], beside === null ? 2 : 1);
    }
  });
}
