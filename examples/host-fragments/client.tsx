/**
 * The browser's half: hydrates what Sluice has rendered, and renders what it could not. Markup and data are those of the
 * Hypernova protocol, whoever wrote them: Sluice, or the host where it fell back.
 */
import { createElement, type ComponentType } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import Book from './components/Book.js';
import Reviews from './components/Reviews.js';

const COMPONENTS: Readonly<Record<string, ComponentType<never> | undefined>> = { Book, Reviews };

for (const script of document.querySelectorAll<HTMLScriptElement>('script[data-hypernova-id]')) {
  const { hypernovaKey: name = '', hypernovaId: id = '' } = script.dataset;
  const place = document.querySelector<HTMLElement>(`div[data-hypernova-id="${CSS.escape(id)}"]`);
  const component = COMPONENTS[name] as ComponentType<object> | undefined;
  if (place === null || component === undefined) continue;
  const element = createElement(component, dataOf(script));
  if ('placeholder' in place.dataset) renderInstead(place, element);
  else hydrateRoot(place, element);
}

function dataOf(script: HTMLScriptElement): object {
  const text = script.text.replace(/^<!--/, '').replace(/-->$/, '');
  return JSON.parse(text.replaceAll('&gt;', '>').replaceAll('&amp;', '&')) as object;
}

/** The placeholder goes when there is something better: a component that throws here, too, leaves it. */
function renderInstead(place: HTMLElement, element: ReturnType<typeof createElement>): void {
  const rendered = document.createElement('div');
  let hasFailed = false;
  const root = createRoot(rendered, {
    onUncaughtError: () => {
      hasFailed = true;
    },
  });
  flushSync(() => root.render(element));
  if (hasFailed) return;
  place.replaceChildren(rendered);
  delete place.dataset['placeholder'];
}
