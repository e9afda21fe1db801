/** The listing for Vue, as components with templates; the server renderer compiles each once. */

import { createSSRApp, inject, provide, ref, computed, useId } from 'vue';
import { renderToString } from 'vue/server-renderer';
import type { Listing } from '../lib/data.ts';

const euros = (cents: number): string => (cents / 100).toFixed(2);
const component = (
  props: string[],
  template: string,
  parts: object = {},
  setup: (props: never) => object = () => ({}),
) => ({
  props,
  template,
  components: parts as never,
  setup: setup as never,
});

const Star = component(
  ['filled'],
  `<span :class="filled ? 'star star-full' : 'star'"><i aria-hidden="true">★</i></span>`,
);
const Stars = component(
  ['rating', 'reviews'],
  `<div class="stars" role="img" :aria-label="label"><Star :filled="rating >= 1"/><Star :filled="rating >= 2"/><Star :filled="rating >= 3"/><Star :filled="rating >= 4"/><Star :filled="rating >= 5"/><span class="reviews">({{ reviews }})</span></div>`,
  { Star },
  (props: { rating: number }) => ({ label: computed(() => `${props.rating} of 5`) }),
);
const Picture = component(
  ['product'],
  `<a class="card-picture" :href="'/p/' + product.slug" tabindex="-1" aria-hidden="true"><svg viewBox="0 0 100 100" width="240" height="240"><rect width="100" height="100" :fill="product.colours[0].hex"/><circle cx="50" cy="50" :r="10 + product.id % 30" :fill="product.colours[1].hex" fill-opacity="0.6"/><path d="M10 90 L50 20 L90 90 Z" fill="none" stroke="#000" stroke-width="2" stroke-linecap="round"/></svg></a>`,
);
const Maker = component(['name'], `<p class="card-maker">by <em>{{ name }}</em></p>`);
const Tags = component(
  ['tags'],
  `<p class="tags"><span v-for="tag of tags" class="tag">{{ tag }}</span></p>`,
);
const Swatches = component(
  ['colours'],
  `<ul class="swatches"><li v-for="colour of colours" :title="colour.name"><span class="swatch" :style="{ background: colour.hex }"></span></li></ul>`,
);
const Price = component(
  ['cents', 'was_cents'],
  `<p class="price"><b>{{ currency }}{{ euros(cents) }}</b><s v-if="was_cents !== null">{{ currency }}{{ euros(was_cents) }}</s></p>`,
  {},
  () => ({ currency: inject('currency'), euros }),
);
const Stock = component(
  ['stock'],
  `<span class="stock" :data-stock="stock">{{ stock === 0 ? 'Sold out' : stock < 4 ? 'Only ' + stock + ' left' : 'In stock' }}</span>`,
);
const Wish = component(
  ['id'],
  `<button type="button" class="wish" :aria-pressed="wished" :data-wish="id"><span>♥</span></button>`,
  {},
  () => ({ wished: ref(false) }),
);
const Add = component(
  ['product'],
  `<div class="add" :data-id="product.id"><button type="button" :disabled="product.stock === 0" :aria-label="'Add ' + product.name + ' to the cart'"><span>Add</span></button><Wish :id="product.id"/></div>`,
  { Wish },
);
const Card = component(
  ['product'],
  `<li class="card" :aria-labelledby="id"><Picture :product="product"/><div class="card-body"><h3 :id="id" class="card-name"><a :href="'/p/' + product.slug">{{ product.name }}</a></h3><Maker :name="product.maker"/><p class="card-text">{{ product.text }}</p><Tags :tags="product.tags"/><Stars :rating="product.rating" :reviews="product.reviews"/><Swatches :colours="product.colours"/><div class="card-row"><Price :cents="product.price_cents" :was_cents="product.was_cents"/><Stock :stock="product.stock"/></div><Add :product="product"/></div></li>`,
  { Picture, Maker, Tags, Stars, Swatches, Price, Stock, Add },
  () => ({ id: useId() }),
);
const Grid = component(
  ['products'],
  `<ul class="grid"><Card v-for="product of products" :key="product.id" :product="product"/></ul>`,
  { Card },
);
const Search = component(
  [],
  `<div class="search" role="search"><label :for="id">Search</label><span :id="id" class="field" :data-text="text"></span></div>`,
  {},
  () => ({ id: useId(), text: ref('') }),
);
const Header = component(
  ['title'],
  `<header class="header"><a class="logo" href="/">Shop</a><h1>{{ title }}</h1><Search/></header>`,
  { Search },
);
const Breadcrumbs = component(
  ['names'],
  `<nav aria-label="Breadcrumbs"><ol><li v-for="name of names"><a :href="'/' + name">{{ name }}</a></li></ol></nav>`,
);
const Toolbar = component(['count'], `<p class="toolbar"><b>{{ count }}</b> products</p>`);
const Pagination = component(
  ['page', 'pages'],
  `<nav class="pages"><a v-for="index of pages" :href="'?page=' + index" :aria-current="index === page ? 'page' : undefined">{{ index }}</a></nav>`,
);
const Column = component(
  ['title', 'links'],
  `<section><h4>{{ title }}</h4><a v-for="link of links" :href="'/' + link">{{ link }}</a></section>`,
);
const Footer = component(
  [],
  `<footer class="footer"><Column title="Help" :links="['Delivery', 'Returns', 'Contact']"/><Column title="Shop" :links="['About', 'Makers', 'Jobs']"/></footer>`,
  { Column },
);
const Page = component(
  ['data'],
  `<main class="page"><Header :title="data.title"/><Breadcrumbs :names="['Home', 'Everything', data.title]"/><Toolbar :count="data.products.length"/><Grid :products="data.products"/><Pagination :page="2" :pages="9"/><Footer/></main>`,
  { Header, Breadcrumbs, Toolbar, Grid, Pagination, Footer },
  () => (provide('currency', '€'), {}),
);

export const render = (data: Listing): Promise<string> => renderToString(createSSRApp(Page, { data }));
