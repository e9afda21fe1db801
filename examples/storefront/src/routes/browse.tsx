/** The routes that only read: pages, search, comparison, autocomplete. */

import { Router } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import { Compare } from '../pages/Compare.js';
import { Explore } from '../pages/Explore.js';
import { ForYou } from '../pages/ForYou.js';
import { Home } from '../pages/Home.js';
import { ListingPage } from '../pages/ListingPage.js';
import { About } from '../pages/plain.js';
import { ProductPage } from '../pages/ProductPage.js';
import { WholeCatalogue } from '../pages/WholeCatalogue.js';
import { totalsOf } from '../shop/cart.js';
import { listingOf } from '../shop/facets.js';
import { readFilters } from '../shop/filters.js';
import type { Recommend } from '../shop/recommend.js';
import { wordsOf } from '../shop/search.js';
import type { SearchIndex } from '../shop/search.js';
import type { Services } from '../shop/services.js';
import { once } from './kit.js';
import type { PageKit } from './kit.js';

export interface BrowseOptions {
  kit: PageKit;
  catalogue: Catalogue;
  recommend: Recommend;
  search: SearchIndex;
  services: Services;
}

const perPage = { listing: 60, search: 24 };

export function browseRoutes({ kit, catalogue, recommend, search, services }: BrowseOptions): Router {
  const routes = Router();

  routes.get('/', (req, res, next) => {
    kit.send(req, res, next, (site) => <Home site={site} catalogue={catalogue} />);
  });

  routes.get('/products', (req, res, next) => {
    const filters = readFilters(kit.query(req), catalogue);
    const listing = listingOf(catalogue, catalogue.products, filters, { per_page: filters.show });
    const blurb = 'The whole shop, to be narrowed down by what matters to you.';
    kit.sendToAll(req, res, next, (site) => (
      <ListingPage site={site} listing={listing} title="Everything" blurb={blurb} path="/products" />
    ));
  });

  routes.get('/c/:category', (req, res, next) => {
    const category = catalogue.category(req.params.category);
    if (category === undefined) return next();
    const filters = readFilters(kit.query(req), catalogue);
    const listing = listingOf(
      catalogue,
      catalogue.inCategory(category),
      { ...filters, chosen: { ...filters.chosen, category: [] } },
      { per_page: perPage.listing, fixed: ['category'] },
    );
    const { name, blurb, slug } = category;
    kit.sendToAll(req, res, next, (site) => (
      <ListingPage site={site} listing={listing} title={name} blurb={blurb} path={`/c/${slug}`} />
    ));
  });

  routes.get('/p/:slug', (req, res, next) => {
    const product = catalogue.product(req.params.slug);
    if (product === undefined) return next();
    const recommendations = once(() => recommend(product, 8));
    kit.send(req, res, next, (site) => (
      <ProductPage site={site} product={product} recommendations={recommendations} />
    ));
  });

  routes.get('/search', (req, res, next) => {
    const filters = readFilters(kit.query(req), catalogue);
    const { text } = filters;
    const found = search.search(text);
    const listing = listingOf(catalogue, found, filters, { per_page: perPage.search, ranked: true });
    const title = text === '' ? 'Search' : `Results for “${text}”`;
    const blurb =
      text === '' ? 'Write into the field above what you are looking for.' : 'Best matches first.';
    kit.send(req, res, next, (site) => (
      <ListingPage
        site={site}
        listing={listing}
        title={title}
        blurb={blurb}
        path="/search"
        words={wordsOf(text).slice(0, 6)}
      />
    ));
  });

  routes.get('/api/suggest', (req, res) => {
    res.setHeader('cache-control', 'public, max-age=60');
    res.json(search.suggest(kit.query(req).get('q') ?? '', 6));
  });

  routes.get('/explore', (req, res, next) => {
    const { text } = readFilters(kit.query(req), catalogue);
    const products = text === '' ? catalogue.products : search.search(text);
    kit.send(req, res, next, (site) => (
      <Explore site={site} catalogue={catalogue} products={products} text={text} />
    ));
  });

  routes.get('/compare/:category', (req, res, next) => {
    const category = catalogue.category(req.params.category);
    if (category === undefined) return next();
    const kind = category.kinds.find((each) => each.slug === kit.query(req).get('kind'));
    const products = catalogue
      .inCategory(category)
      .filter((each) => kind === undefined || each.kind === kind);
    kit.send(req, res, next, (site) => (
      <Compare
        site={site}
        category={category}
        kind={kind?.plural.toLowerCase() ?? null}
        products={products}
      />
    ));
  });

  routes.get('/catalogue', (req, res, next) => {
    const pictures = kit.query(req).get('pictures') === '1';
    kit.send(req, res, next, (site) => (
      <WholeCatalogue site={site} catalogue={catalogue} pictures={pictures} />
    ));
  });

  routes.get('/for-you', (req, res, next) => {
    const { lines } = totalsOf(kit.cart(req), catalogue);
    const shelves = [
      {
        title: lines.length === 0 ? 'To begin with' : 'Because of what is in your cart',
        products: once(() => services.becauseOfCart(lines)),
      },
      { title: 'Popular this week', products: once(() => services.popularThisWeek()) },
      { title: 'Nearly gone', products: once(() => services.nearlyGone()) },
    ];
    kit.send(req, res, next, (site) => <ForYou site={site} shelves={shelves} />);
  });

  routes.get('/about', (req, res, next) => {
    kit.send(req, res, next, (site) => <About site={site} makers={catalogue.makers} />);
  });

  return routes;
}
