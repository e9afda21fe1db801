/** What the routes share: the visitor and the visitor's graph, the query, and sending a page. */

import type { ReactNode } from 'react';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Assets } from '../assets.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Site } from '../components/Layout.js';
import { sendPage } from '../render.js';
import type { Router } from '@sluice/graph/router';
import { createPageGraph } from '@sluice/graph/server';
import type { PageGraph } from '@sluice/graph/server';
import type { Visitor, VisitorOf } from '../graph/visitor.js';
import { countOf } from '../shop/cart.js';

export interface PageKit {
  visitor(req: Request): Visitor;
  /** The shop's data as the visitor may see it, for one page. */
  graph(req: Request): PageGraph;
  query(req: Request): URLSearchParams;
  send(
    req: Request,
    res: Response,
    next: NextFunction,
    page: (site: Site) => ReactNode,
    options?: { status?: number; graph?: PageGraph },
  ): void;
  /**
   * Sends a page that is the same for every visitor but for the cart's count. Where the gateway composes pages it may keep this
   * one, without the count; elsewhere it is a page as any.
   */
  sendToAll(req: Request, res: Response, next: NextFunction, page: (site: Site) => ReactNode): void;
}

/** For how long a page for all is kept, and then used while a new one is rendered. */
const keptForAll = 'max-age=60+60, content="ESI/1.0"';

export interface KitOptions {
  assets: Assets;
  catalogue: Catalogue;
  visitorOf: VisitorOf;
  router: Router<Visitor>;
}

export function pageKit({ assets, catalogue, visitorOf, router }: KitOptions): PageKit {
  const query = (req: Request): URLSearchParams => {
    const at = req.originalUrl.indexOf('?');
    return new URLSearchParams(at < 0 ? '' : req.originalUrl.slice(at + 1));
  };
  const siteOf = (req: Request, cart_count: number | null, graph?: PageGraph): Site => ({
    categories: catalogue.categories,
    stylesheet: assets.stylesheet,
    cart_count,
    path: req.path,
    text: (query(req).get('q') ?? '').slice(0, 80),
    state: graph && (() => graph.script()),
  });
  const send: PageKit['send'] = (req, res, next, page, { status = 200, graph } = {}) => {
    // The page shows the visitor's own cart count, so it may not be kept for somebody else.
    res.setHeader('cache-control', 'private, no-cache');
    res.setHeader('vary', 'cookie');
    sendPage(res, next, page(siteOf(req, countOf(visitorOf(req).cart), graph)), {
      status,
      script: assets.script,
      graph,
    });
  };
  return {
    visitor: visitorOf,
    graph: (req) => createPageGraph({ source: router.asDataSource(visitorOf(req)) }),
    query,
    send,
    sendToAll(req, res, next, page) {
      const isComposed = req.get('surrogate-capability')?.includes('ESI/1.0') ?? false;
      if (!isComposed) return send(req, res, next, page);
      // The first is for the gateway, the second for browsers.
      res.setHeader('surrogate-control', keptForAll);
      res.setHeader('cache-control', 'private, no-cache');
      sendPage(res, next, page(siteOf(req, null)), { status: 200, script: assets.script });
    },
  };
}

/** Handler that works asynchronously. Its rejection goes to the app's error handler. */
export function later(
  work: (req: Request, res: Response, next: NextFunction) => Promise<void>,
): RequestHandler {
  return (req, res, next) => void work(req, res, next).catch(next);
}

/** The same promise for each call, made at the first: work starts when it is needed, and once. */
export function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= start());
}
