/** The shop as an Express app: what every request gets, then the routes in the order of a visit. */

import express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import type { Assets } from './assets.js';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Data } from './data/data.js';
import type { Meter } from './meter.js';
import { shopRouter } from './graph/router.js';
import { visitorsBy } from './graph/visitor.js';
import { accountRoutes } from './routes/account.js';
import { pageKit } from './routes/kit.js';
import { browseRoutes } from './routes/browse.js';
import { cartRoutes } from './routes/cart.js';
import { graphRoute } from './routes/graph.js';
import { shelfRoutes } from './routes/shelf.js';
import { Failure, NotFound } from './pages/plain.js';
import { createListings } from './shop/listings.js';
import { createRecommender } from './shop/recommend.js';
import { createSearchIndex } from './shop/search.js';
import { createServices } from './shop/services.js';

export interface AppOptions {
  assets: Assets;
  catalogue: Catalogue;
  data: Data;
  meter: Meter;
  /** Signs the cookies of cart and order. All workers need the same one. */
  secret: string;
  /** Multiplies the waits of the pretended back ends on /for-you. */
  wait_scale: number;
  /** Folder of what the build has made for the page platform. */
  shelf_folder: string;
  /** Address of the service of suggestions. */
  suggestions_url: string;
}

export function createApp(options: AppOptions): Express {
  const { catalogue, data, meter, secret } = options;
  const recommend = createRecommender(catalogue);
  const search = createSearchIndex(catalogue);
  const listings = createListings(catalogue, search);
  const router = shopRouter({ catalogue, data, listings, recommend });
  const visitorOf = visitorsBy({ catalogue, data, secret });
  const kit = pageKit({ assets: options.assets, catalogue, visitorOf, router });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag'); // Pages stream, so there is nothing to hash before the first byte.
  app.use((_req, res, next) => {
    res.setHeader('x-content-type-options', 'nosniff');
    res.setHeader('referrer-policy', 'same-origin');
    next();
  });
  app.use(
    '/assets',
    express.static(options.assets.folder, {
      etag: true,
      setHeaders(res) {
        // Files that the build has named by their content never change; all others have to be asked for again.
        const { path } = res.req as Request;
        const isHashed = /-[\w-]{8}\.\w+$/.test(path);
        res.setHeader('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'public, no-cache');
      },
    }),
  );
  app.use((_req, _res, next) => {
    data.stock.refresh();
    next();
  });
  app.use(fromOwnPages);
  app.use('/model.json', graphRoute(router, visitorOf));
  // The cart first: its summary is asked for with each listing that is composed.
  app.use(cartRoutes({ kit, catalogue, data, secret, router }));
  app.use(accountRoutes({ kit, data }));
  app.get('/api/meter', (req, res) => {
    res.setHeader('cache-control', 'no-store');
    res.json(meter.of(kit.query(req).get('path') ?? '/'));
  });
  app.use(
    browseRoutes({
      kit,
      catalogue,
      listings,
      search,
      services: createServices(catalogue, recommend, options.wait_scale),
    }),
  );
  app.use(
    shelfRoutes({
      kit,
      catalogue,
      router,
      folder: options.shelf_folder,
      suggestions_url: options.suggestions_url,
    }),
  );
  app.use((req, res, next) => {
    kit.send(req, res, next, (site) => <NotFound site={site} />, { status: 404 });
  });
  app.use((error: unknown, req: Request, res: Response, next: NextFunction) => {
    const status = statusOf(error);
    if (status >= 500) console.error('A request failed:', req.method, req.path, error);
    if (res.headersSent) {
      next(error);
      return;
    }
    kit.send(req, res, next, (site) => <Failure site={site} />, { status });
  });
  return app;
}

/** Another site's form cannot order or sign out in a visitor's name. Clients that are no browsers send no such header. */
function fromOwnPages(req: Request, res: Response, next: NextFunction): void {
  const site = req.get('sec-fetch-site');
  if (req.method !== 'POST' || site === undefined || site === 'same-origin' || site === 'none') return next();
  res.status(403).type('text').send('This form was sent by another site, so nothing was done.');
}

/** Express, its parsers and the page platform put a status on errors that the client caused, under one of two names. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { status, statusCode = status } = error as { status?: unknown; statusCode?: unknown };
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? statusCode : 500;
}
