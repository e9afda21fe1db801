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
}

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
  return {
    cart,
    query,
    send(req, res, next, page, status = 200) {
      const site: Site = {
        categories: catalogue.categories,
        stylesheet: assets.stylesheet,
        cart_count: countOf(cart(req)),
        path: req.path,
        text: (query(req).get('q') ?? '').slice(0, 80),
      };
      // Every page shows the visitor's own cart count, so none may be kept for somebody else.
      res.setHeader('cache-control', 'private, no-cache');
      res.setHeader('vary', 'cookie');
      sendPage(res, next, page(site), { status, script: assets.script });
    },
  };
}

/** The same promise for each call, made at the first: work starts when it is needed, and once. */
export function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= start());
}
