/** The routes of the page platform: trees are JSON, and each page is HTML for browsers and JSON for native apps. */

import { Router } from 'express';
import type { NextFunction, Request } from 'express';
import type { IncomingMessage } from 'node:http';
import type { DataSource } from '@sluice/graph';
import type { Router as GraphRouter } from '@sluice/graph/router';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Visitor } from '../graph/visitor.js';
import { createPlatform } from '../shelf/platform.js';
import type { Platform } from '../shelf/platform.js';
import listing from '../shelf/trees/listing.json' with { type: 'json' };
import product from '../shelf/trees/product.json' with { type: 'json' };
import { once } from './kit.js';
import type { PageKit } from './kit.js';

export interface ShelfOptions {
  kit: PageKit;
  catalogue: Catalogue;
  router: GraphRouter<Visitor>;
  folder: string;
  suggestions_url: string;
}

/** Clients who ask for JSON get another answer from the same address. */
const headers = { vary: 'Accept' };

export function shelfRoutes(options: ShelfOptions): Router {
  const { kit, catalogue, router, folder, suggestions_url } = options;
  const routes = Router();
  // Under Express the server's own request is Express's.
  const graphOf = (req: IncomingMessage): DataSource => router.asDataSource(kit.visitor(req as Request));
  const platform = once(() => createPlatform({ graphOf, folder, suggestions_url }));
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
    const data = { fails: query.get('fail') === '1' };
    const options = {
      format: formatFor(req),
      headers,
      // `?layout=wide` shows an arm to whoever wants to see it.
      ...(layout !== null && { variants: { 'card-layout': layout } }),
    };
    ask(next, (pages) => pages.page(req, res, listing, data, options));
  });

  routes.get('/shelf/:slug', (req, res, next) => {
    const { slug } = req.params;
    if (catalogue.product(slug) === undefined) return next();
    const options = { format: formatFor(req), headers, more: `/shelf/${slug}/box` };
    ask(next, (pages) => pages.page(req, res, product, { slug }, options));
  });

  routes.get('/shelf/:slug/box', (req, res, next) => {
    const { slug } = req.params;
    if (catalogue.product(slug) === undefined) return next();
    ask(next, (pages) => pages.box(req, res, product, { slug }));
  });

  return routes;
}

function formatFor(req: Request): 'html' | 'json' {
  return req.accepts(['html', 'json']) === 'json' ? 'json' : 'html';
}
