/** The listing by hand, as strings: what a renderer without components could cost. */

import type { Listing, Product } from '../lib/data.ts';

const special = /["'&<>]/g;
const entities: Record<string, string> = {
  '"': '&quot;',
  "'": '&#x27;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};
const e = (text: string): string => text.replace(special, (sign) => entities[sign] ?? sign);

export function render({ title, products }: Listing): string {
  return `<main class="page"><header class="header"><a class="logo" href="/">Shop</a><h1>${e(title)}</h1><div class="search" role="search"><label for="s">Search</label><span id="s" class="field" data-text=""></span></div></header><nav aria-label="Breadcrumbs"><ol>${[
    'Home',
    'Everything',
    title,
  ]
    .map((name) => `<li><a href="/${e(name)}">${e(name)}</a></li>`)
    .join('')}</ol></nav><p class="toolbar"><b>${products.length}</b> products</p><ul class="grid">${products
    .map(card)
    .join('')}</ul><nav class="pages">${Array.from(
    { length: 9 },
    (_, index) => `<a href="?page=${index + 1}"${index === 1 ? ' aria-current="page"' : ''}>${index + 1}</a>`,
  ).join('')}</nav><footer class="footer">${column('Help', ['Delivery', 'Returns', 'Contact'])}${column(
    'Shop',
    ['About', 'Makers', 'Jobs'],
  )}</footer></main>`;
}

function card(product: Product, index: number): string {
  const { stock } = product;
  return `<li class="card" aria-labelledby="c${index}"><a class="card-picture" href="/p/${e(product.slug)}" tabindex="-1" aria-hidden="true"><svg viewBox="0 0 100 100" width="240" height="240"><rect width="100" height="100" fill="${e(product.colours[0]?.hex ?? '')}"></rect><circle cx="50" cy="50" r="${10 + (product.id % 30)}" fill="${e(product.colours[1]?.hex ?? '')}" fill-opacity="0.6"></circle><path d="M10 90 L50 20 L90 90 Z" fill="none" stroke="#000" stroke-width="2" stroke-linecap="round"></path></svg></a><div class="card-body"><h3 id="c${index}" class="card-name"><a href="/p/${e(product.slug)}">${e(product.name)}</a></h3><p class="card-maker">by <em>${e(product.maker)}</em></p><p class="card-text">${e(product.text)}</p><p class="tags">${product.tags
    .map((tag) => `<span class="tag">${e(tag)}</span>`)
    .join('')}</p>${stars(product)}<ul class="swatches">${product.colours
    .map(
      ({ name, hex }) =>
        `<li title="${e(name)}"><span class="swatch" style="background:${e(hex)}"></span></li>`,
    )
    .join('')}</ul><div class="card-row"><p class="price"><b>€${(product.price_cents / 100).toFixed(2)}</b>${
    product.was_cents === null ? '' : `<s>€${(product.was_cents / 100).toFixed(2)}</s>`
  }</p><span class="stock" data-stock="${stock}">${
    stock === 0 ? 'Sold out' : stock < 4 ? `Only ${stock} left` : 'In stock'
  }</span></div><div class="add" data-id="${product.id}"><button type="button"${stock === 0 ? ' disabled=""' : ''} aria-label="Add ${e(product.name)} to the cart"><span>Add</span></button><button type="button" class="wish" aria-pressed="false" data-wish="${product.id}"><span>♥</span></button></div></div></li>`;
}

function stars({ rating, reviews }: Product): string {
  const star = (at: number): string =>
    `<span class="${rating >= at ? 'star star-full' : 'star'}"><i aria-hidden="true">★</i></span>`;
  return `<div class="stars" role="img" aria-label="${rating} of 5">${[1, 2, 3, 4, 5].map(star).join('')}<span class="reviews">(${reviews})</span></div>`;
}

function column(title: string, links: string[]): string {
  return `<section><h4>${title}</h4>${links.map((link) => `<a href="/${link}">${link}</a>`).join('')}</section>`;
}
