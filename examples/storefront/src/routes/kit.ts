/** What the routes share: the visitor's cart, the query, and sending a page. */

import type { ReactNode } from 'react';
import type { NextFunction, Request, Response } from 'express';
import type { Assets } from '../assets.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Site } from '../components/Layout.js';
import { sendPage } from '../render.js';
import { countOf, parseCart } from '../shop/cart.js';
import type { Cart } from '../shop/cart.js';
import { readCookie, unseal } from '../shop/signed-cookie.js';

export interface PageKit {
  cart(req: Request): Cart;
  query(req: Request): URLSearchParams;
  send(
    req: Request,
    res: Response,
    next: NextFunction,
    page: (site: Site) => ReactNode,
    status?: number,
  ): void;
  /**
   * Sends a page that is the same for every visitor but for the cart's count. Where the gateway composes pages it may keep this
   * one, without the count; elsewhere it is a page as any.
   */
  sendToAll(req: Request, res: Response, next: NextFunction, page: (site: Site) => ReactNode): void;
}

/** For how long a page for all is kept, and then used while a new one is rendered. */
const keptForAll = 'max-age=60+60, content="ESI/1.0"';

export const cartCookie = 'cart';

export function pageKit(options: { assets: Assets; secret: string; catalogue: Catalogue }): PageKit {
  const { assets, secret, catalogue } = options;
  const cart = (req: Request): Cart => {
    const sealed = readCookie(req.headers.cookie, cartCookie);
    return sealed === undefined ? new Map() : parseCart(unseal(cartCookie, sealed, secret), catalogue);
  };
  const query = (req: Request): URLSearchParams => {
    const at = req.originalUrl.indexOf('?');
    return new URLSearchParams(at < 0 ? '' : req.originalUrl.slice(at + 1));
  };
  const siteOf = (req: Request, cart_count: number | null): Site => ({
    categories: catalogue.categories,
    stylesheet: assets.stylesheet,
    cart_count,
    path: req.path,
    text: (query(req).get('q') ?? '').slice(0, 80),
  });
  const send: PageKit['send'] = (req, res, next, page, status = 200) => {
    // The page shows the visitor's own cart count, so it may not be kept for somebody else.
    res.setHeader('cache-control', 'private, no-cache');
    res.setHeader('vary', 'cookie');
    sendPage(res, next, page(siteOf(req, countOf(cart(req)))), { status, script: assets.script });
  };
  return {
    cart,
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

/** The same promise for each call, made at the first: work starts when it is needed, and once. */
export function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= start());
}
