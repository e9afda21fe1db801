/** The browser's half: builds the same tree with React's development build, and hydrates what the server sent. */

import * as React from 'react';
import * as ReactDOM from 'react-dom';
import { hydrateRoot } from 'react-dom/client';
import { build } from '../differential/build.ts';
import type { Node, Outcome } from '../differential/description.ts';
import { newWorld, type React as ReactOf, type ReactDOM as ReactDOMOf } from '../differential/world.ts';

declare const document: { getElementById(id: string): never };

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
  const libraries = { React: React as unknown as ReactOf, ReactDOM: ReactDOM as unknown as ReactDOMOf };
  const world = newWorld(libraries, outcomes);
  for (const turn of world.turns) turn.settle();
  const { act } = React as unknown as { readonly act: (body: () => Promise<void>) => Promise<void> };
  await act(async () => {
    hydrateRoot(document.getElementById('root'), build(root, world), {
      onRecoverableError: (error) => note('recovered from', error),
      onUncaughtError: (error) => note('uncaught', error),
    });
    // A turn for what the tree awaits.
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
  return complaints;
}

Object.assign(globalThis, { hydrate, versionOfReact: React.version, IS_REACT_ACT_ENVIRONMENT: true });
