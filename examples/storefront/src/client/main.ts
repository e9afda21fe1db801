/** Brings the islands of a page to life, and keeps the number beside the cart up to date. */

import './storefront.css';
import { httpSource, startGraph } from '@sluice/graph/browser';
import { createElement } from 'react';
import type { ComponentType } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { islands } from '../components/Island.js';
import { pageClicked } from '../components/Results.js';
import { tellServing } from './serving.js';

const model = startGraph({ source: httpSource('/model.json') });

for (const place of document.querySelectorAll<HTMLElement>('[data-island]')) {
  const name = place.dataset['island'] ?? '';
  if (!(name in islands)) continue;
  // The page wrote these props for this component: both come from the same build.
  const component = islands[name as keyof typeof islands] as ComponentType<object>;
  const props = JSON.parse(place.dataset['props'] ?? '{}') as object;
  if (place.dataset['late'] === undefined)
    hydrateRoot(place, createElement(component, props), {
      onRecoverableError: (error) => console.error('An island did not match the page:', name, error),
    });
  else startAtClick(place, component, props);
}
void tellServing();
document.documentElement.dataset['hydrated'] = 'yes';

model.subscribe(['cart.count'], () => {
  const count = model.read<{ cart: { count: number } }>('cart.count').json?.cart.count;
  if (count === undefined) return;
  for (const badge of document.querySelectorAll('[data-cart-count]')) badge.textContent = String(count);
});

/** Replaces the HTML of a listing's page when a visitor turns to another one. */
function startAtClick(place: HTMLElement, component: ComponentType<object>, props: object): void {
  const start = (event: MouseEvent): void => {
    const page = pageClicked(event);
    if (page === undefined) return;
    event.preventDefault();
    place.removeEventListener('click', start);
    history.pushState(null, '', (event.target as Element).closest('a')?.href);
    place.scrollIntoView();
    createRoot(place).render(createElement(component, { ...props, page, isTurned: true } as object));
  };
  place.addEventListener('click', start);
}
