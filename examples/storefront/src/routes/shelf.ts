/** The routes of the page platform: trees are JSON, and each page is HTML for browsers and JSON for native apps. */

import { Router } from 'express';
import type { Request } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import { itemOf, listedItems } from '../shelf/items.js';
import { createPlatform } from '../shelf/platform.js';
import listing from '../shelf/trees/listing.json' with { type: 'json' };
import product from '../shelf/trees/product.json' with { type: 'json' };
import { once } from './kit.js';
import type { PageKit } from './kit.js';

export interface ShelfOptions {
  kit: PageKit;
  catalogue: Catalogue;
  folder: string;
  suggestions_url: string;
}

/** The whole page is another for a client that asks for JSON. */
const headers = { vary: 'Accept' };

export function shelfRoutes({ kit, catalogue, folder, suggestions_url }: ShelfOptions): Router {
  const routes = Router();
  const platform = once(() => createPlatform({ catalogue, folder, suggestions_url }));
  const items = listedItems(catalogue);

  routes.get('/_css/*file', async (req, res, next) => {
    const { styles } = await platform();
    if (!(await styles(req, res))) next();
  });

  routes.get('/shelf', async (req, res) => {
    const { page } = await platform();
    const query = kit.query(req);
    const layout = query.get('layout');
    await page(
      req,
      res,
      listing,
      { items, fails: query.get('fail') === '1' },
      {
        format: formatFor(req),
        headers,
        // `?layout=wide` shows an arm to whoever wants to see it.
        ...(layout !== null && { variants: { 'card-layout': layout } }),
      },
    );
  });

  routes.get('/shelf/:slug', async (req, res, next) => {
    const data = dataOf(catalogue, req.params.slug);
    if (data === undefined) return next();
    const { page } = await platform();
    const more = `/shelf/${req.params.slug}/box`;
    await page(req, res, product, data, { format: formatFor(req), headers, more });
  });

  routes.get('/shelf/:slug/box', async (req, res, next) => {
    const data = dataOf(catalogue, req.params.slug);
    if (data === undefined) return next();
    const { box } = await platform();
    await box(req, res, product, data);
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
