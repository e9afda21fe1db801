/**
 * The browser's half: hydrates what Sluice has rendered, and renders what it could not. Markup and data are those of the
 * Hypernova protocol, whoever wrote them: Sluice, or the host where it fell back.
 */
import { load } from '@sluice/render/hypernova';
import { createElement, type ComponentType, type ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import Book from './components/Book.js';
import Reviews from './components/Reviews.js';

for (const [name, component] of Object.entries({ Book, Reviews })) {
  for (const { node, data } of load(name)) {
    const element = createElement(component as ComponentType<object>, data as object);
    if ('placeholder' in node.dataset) renderInstead(node, element);
    else hydrateRoot(node, element);
  }
}

/** The placeholder goes when there is something better: a component that throws here, too, leaves it. */
function renderInstead(place: HTMLElement, element: ReactElement): void {
  const rendered = document.createElement('div');
  let hasFailed = false;
  const root = createRoot(rendered, {
    onUncaughtError: (error) => {
      hasFailed = true;
      console.error(error);
    },
  });
  flushSync(() => root.render(element));
  if (hasFailed) return;
  place.replaceChildren(rendered);
  delete place.dataset['placeholder'];
}
