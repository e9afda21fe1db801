/** The routes of the page platform: trees are JSON, and each page is HTML for browsers and JSON for native apps. */

import { Router } from 'express';
import type { NextFunction, Request } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Stock } from '../data/stock.js';
import { itemOf, listedItems } from '../shelf/items.js';
import { createPlatform } from '../shelf/platform.js';
import type { Platform } from '../shelf/platform.js';
import listing from '../shelf/trees/listing.json' with { type: 'json' };
import product from '../shelf/trees/product.json' with { type: 'json' };
import { once } from './kit.js';
import type { PageKit } from './kit.js';

export interface ShelfOptions {
  kit: PageKit;
  catalogue: Catalogue;
  stock: Stock;
  folder: string;
  suggestions_url: string;
}

/** Clients who ask for JSON get another answer from the same address. */
const headers = { vary: 'Accept' };

export function shelfRoutes({ kit, catalogue, stock, folder, suggestions_url }: ShelfOptions): Router {
  const routes = Router();
  // Made anew when something was sold.
  let listed = { version: stock.version(), items: listedItems(catalogue) };
  const itemsNow = (): typeof listed.items => {
    if (listed.version !== stock.version())
      listed = { version: stock.version(), items: listedItems(catalogue) };
    return listed.items;
  };
  const platform = once(() => createPlatform({ catalogue, folder, suggestions_url }));
  const ask = (next: NextFunction, what: (pages: Platform) => Promise<void>): void => {
    platform().then(what).catch(next);
  };

  routes.get('/_css/*file', (req, res, next) => {
    ask(next, async (pages) => {
      if (!(await pages.styles(req, res))) next();
    });
  });

  routes.get('/shelf', (req, res, next) => {
    const query = kit.query(req);
    const layout = query.get('layout');
    const data = { items: itemsNow(), fails: query.get('fail') === '1' };
    const options = {
      format: formatFor(req),
      headers,
      // `?layout=wide` shows an arm to whoever wants to see it.
      ...(layout !== null && { variants: { 'card-layout': layout } }),
    };
    ask(next, (pages) => pages.page(req, res, listing, data, options));
  });

  routes.get('/shelf/:slug', (req, res, next) => {
    const data = dataOf(catalogue, req.params.slug);
    if (data === undefined) return next();
    const options = { format: formatFor(req), headers, more: `/shelf/${req.params.slug}/box` };
    ask(next, (pages) => pages.page(req, res, product, data, options));
  });

  routes.get('/shelf/:slug/box', (req, res, next) => {
    const data = dataOf(catalogue, req.params.slug);
    if (data === undefined) return next();
    ask(next, (pages) => pages.box(req, res, product, data));
  });

  return routes;
}

function dataOf(catalogue: Catalogue, slug: string): Record<string, unknown> | undefined {
  const found = catalogue.product(slug);
  return found && { item: itemOf(found), description: found.description };
}

function formatFor(req: Request): 'html' | 'json' {
  return req.accepts(['html', 'json']) === 'json' ? 'json' : 'html';
}
