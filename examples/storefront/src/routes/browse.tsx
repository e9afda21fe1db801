/** The routes that only read: pages, search, comparison, autocomplete. */

import { Router } from 'express';
import type { ReactNode } from 'react';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Site } from '../components/Layout.js';
import type { PageGraph } from '@sluice/graph/server';
import { shopGraph } from '../graph/schema.js';
import type { About as AboutListing, Card, Facts } from '../graph/schema.js';
import { Compare } from '../pages/Compare.js';
import { Explore } from '../pages/Explore.js';
import { ForYou } from '../pages/ForYou.js';
import { Home } from '../pages/Home.js';
import { ListingPage } from '../pages/ListingPage.js';
import { About } from '../pages/plain.js';
import { ProductPage } from '../pages/ProductPage.js';
import { WholeCatalogue } from '../pages/WholeCatalogue.js';
import { totalsOf } from '../shop/cart.js';
import { readFilters } from '../shop/filters.js';
import type { Found, Listings } from '../shop/listings.js';
import type { SearchIndex } from '../shop/search.js';
import type { Services } from '../shop/services.js';
import { later, once } from './kit.js';
import type { PageKit } from './kit.js';

export interface BrowseOptions {
  kit: PageKit;
  catalogue: Catalogue;
  listings: Listings;
  search: SearchIndex;
  services: Services;
}

export function browseRoutes({ kit, catalogue, listings, search, services }: BrowseOptions): Router {
  const routes = Router();

  routes.get('/', (req, res, next) => {
    kit.send(req, res, next, (site) => <Home site={site} catalogue={catalogue} />);
  });

  // Nothing of these changes in the browser: their pages are HTML alone.
  routes.get(
    ['/products', '/c/:category'],
    later(async (req, res, next) => {
      const found = listings.at(req.path, kit.query(req));
      if (found === undefined) return next();
      const read = await readPage(kit.graph(req), found, found.filters.page);
      if (read === undefined) return next();
      kit.sendToAll(req, res, next, (site) => <ListingPage site={site} found={found} {...read} />);
    }),
  );

  // The island of a search reads its cards from the graph again, so that the browser has them, too.
  routes.get(
    '/search',
    later(async (req, res, next) => {
      const found = listings.at('/search', kit.query(req));
      if (found === undefined) return next();
      const graph = kit.graph(req);
      const read = await readPage(graph, found, found.filters.page);
      if (read === undefined) return next();
      const { about } = read;
      kit.send(req, res, next, (site) => <ListingPage site={site} found={found} about={about} />, { graph });
    }),
  );

  routes.get(
    '/p/:slug',
    later(async (req, res, next) => {
      const slug = String(req.params['slug']);
      const graph = kit.graph(req);
      const model = graph.model.unbatch();
      const path = ['products', slug];
      // An error is for the island that reads the same value, and its boundary.
      await model.treatErrorsAsValues().get([...path, ['facts', 'choices', 'reviews']]);
      const product = await model.getValue<Facts>([...path, 'facts']);
      const hasNoReviews = model.read([...path, 'reviews']).errors.length > 0;
      if (product === undefined) return next();
      const recommendations = once(async () => {
        const read = await shopGraph.model(model).get(`products["${slug}"].together[0..7].card`);
        const together = read?.json.products?.[slug]?.together ?? {};
        return Object.values(together).flatMap((each) => each?.card ?? []);
      });
      const shown = (site: Site): ReactNode => (
        <ProductPage
          site={site}
          product={product}
          hasNoReviews={hasNoReviews}
          recommendations={recommendations}
        />
      );
      kit.send(req, res, next, shown, { graph });
    }),
  );

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
    const { lines } = totalsOf(kit.visitor(req).cart, catalogue);
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

/** A page of a listing; its last one where it has fewer. */
async function readPage(
  graph: PageGraph,
  found: Found,
  page: number,
): Promise<{ about: AboutListing; products: readonly Card[] } | undefined> {
  const { address, per_page } = found;
  const from = (page - 1) * per_page;
  const read = await shopGraph
    .model(graph.model.unbatch())
    .get(`listings["${address}"].about`, `listings["${address}"][${from}..${from + per_page - 1}].card`);
  const { about, ...places } = read?.json.listings?.[address] ?? {};
  if (about === undefined) return undefined;
  if (page > about.pages) return readPage(graph, found, about.pages);
  return {
    about: { ...about, page },
    products: Object.values(places).flatMap((place) => place?.card ?? []),
  };
}
