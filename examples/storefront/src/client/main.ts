/** Brings the islands of a page to life, and keeps the number beside the cart up to date. */

import './storefront.css';
import { createElement } from 'react';
import type { ComponentType } from 'react';
import { hydrateRoot } from 'react-dom/client';
import type { CartAnswer } from '../components/BuyBox.js';
import { islands } from '../components/Island.js';
import { tellServing } from './serving.js';

for (const place of document.querySelectorAll<HTMLElement>('[data-island]')) {
  const name = place.dataset['island'] ?? '';
  if (!(name in islands)) continue;
  // The page wrote these props for this component: both come from the same build.
  const component = islands[name as keyof typeof islands] as ComponentType<object>;
  hydrateRoot(place, createElement(component, JSON.parse(place.dataset['props'] ?? '{}') as object), {
    onRecoverableError: (error) => console.error('An island did not match the page:', name, error),
  });
}
void tellServing();
document.documentElement.dataset['hydrated'] = 'yes';

window.addEventListener('cart', (event) => {
  const { count } = (event as CustomEvent<CartAnswer>).detail;
  for (const badge of document.querySelectorAll('[data-cart-count]')) badge.textContent = String(count);
});
