/** The browser's half: builds the same tree with React's development build, and hydrates what the server sent. */

import * as React from 'react';
import * as ReactDOM from 'react-dom';
import { hydrateRoot } from 'react-dom/client';
import { build } from '../differential/build.ts';
import type { Node, Outcome } from '../differential/description.ts';
import { newWorld, type React as ReactOf, type ReactDOM as ReactDOMOf } from '../differential/world.ts';

declare const document: { getElementById(id: string): { readonly innerHTML: string } };

/** Scripts of react-dom put off showing what came late by up to 300 ms. */
const shown_ms_max = 5000;

/** Resolves with what React complained about. */
async function hydrate(root: readonly Node[], outcomes: readonly Outcome[]): Promise<string[]> {
  const complaints: string[] = [];
  const note = (...args: unknown[]): void => {
    // The trees are arrays without keys here and there, on purpose: that is no matter of hydration.
    if (String(args[0]).includes('unique "key" prop')) return;
    complaints.push(args.map((each) => (each instanceof Error ? each.message : String(each))).join(' '));
  };
  console.error = note;
  console.warn = note;
  const container = document.getElementById('root');
  const waits = (): boolean => /<!--\$[?~]-->/.test(container.innerHTML);
  const deadline = Date.now() + shown_ms_max;
  while (waits() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  if (waits()) note('not shown', container.innerHTML);

  const libraries = { React: React as unknown as ReactOf, ReactDOM: ReactDOM as unknown as ReactDOMOf };
  const world = newWorld(libraries, outcomes);
  for (const turn of world.turns) turn.settle();
  const { act } = React as unknown as { readonly act: (body: () => Promise<void>) => Promise<void> };
  await act(async () => {
    hydrateRoot(container, build(root, world), {
      onRecoverableError: (error) => note('recovered from', error),
      onUncaughtError: (error) => note('uncaught', error),
    });
    // A turn for what the tree awaits.
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
  return complaints;
}

Object.assign(globalThis, { hydrate, versionOfReact: React.version, IS_REACT_ACT_ENVIRONMENT: true });
