/** The routes that change something: cart and checkout. All state is in the visitor's signed cookies. */

import { randomInt } from 'node:crypto';
import express, { Router } from 'express';
import type { Request, Response } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import { CartPage } from '../pages/CartPage.js';
import { Checkout, Thanks } from '../pages/Checkout.js';
import { countOf, formatCart, totalsOf, withQuantity } from '../shop/cart.js';
import type { Cart } from '../shop/cart.js';
import { emptyCheckout, readCheckout } from '../shop/checkout.js';
import { readCookie, seal, unseal } from '../shop/signed-cookie.js';
import { cartCookie } from './kit.js';
import type { PageKit } from './kit.js';

export interface CartOptions {
  kit: PageKit;
  catalogue: Catalogue;
  secret: string;
}

const orderCookie = 'order';
const cartAge_ms = 30 * 86_400_000;
const orderAge_ms = 3_600_000;

export function cartRoutes({ kit, catalogue, secret }: CartOptions): Router {
  const routes = Router();
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 });

  const keep = (res: Response, name: string, value: string, maxAge: number): void => {
    res.cookie(name, seal(name, value, secret), { httpOnly: true, sameSite: 'lax', path: '/', maxAge });
  };
  const keepCart = (res: Response, cart: Cart): void => {
    if (cart.size === 0) res.clearCookie(cartCookie, { httpOnly: true, sameSite: 'lax', path: '/' });
    else keep(res, cartCookie, formatCart(cart), cartAge_ms);
  };

  routes.get('/cart', (req, res, next) => {
    const totals = totalsOf(kit.cart(req), catalogue);
    kit.send(req, res, next, (site) => <CartPage site={site} totals={totals} />);
  });

  // What a page for all leaves open: it is put in where the page is composed.
  routes.get('/cart/summary', (req, res) => {
    res.setHeader('cache-control', 'private, no-store');
    res.type('html').send(String(countOf(kit.cart(req))));
  });

  routes.post('/cart', form, (req, res) => {
    const fields = fieldsOf(req);
    const before = kit.cart(req);
    const variant =
      catalogue.variant(fields['sku'] ?? '')?.variant ??
      catalogue
        .product(fields['product'] ?? '')
        ?.variants.find(
          (each) => each.colour.slug === fields['colour'] && each.size === (fields['size'] ?? null),
        );
    const wanted = quantityOf(fields['quantity'] ?? '1');
    let message = 'Added to your cart.';
    let status = 200;
    let cart = before;
    if (variant === undefined || wanted === null || wanted === 0) {
      [status, message] = [422, 'This choice does not exist.'];
    } else if (variant.stock === 0) {
      [status, message] = [409, 'This choice is sold out.'];
    } else {
      cart = withQuantity(before, variant.sku, (before.get(variant.sku) ?? 0) + wanted);
      keepCart(res, cart);
    }
    if (req.accepts(['html', 'json']) === 'json') {
      const { count, total_cents } = totalsOf(cart, catalogue);
      res.status(status).json({ count, total_cents, message });
    } else if (status === 200) {
      res.redirect(303, '/cart');
    } else {
      res.status(status).type('text').send(message);
    }
  });

  routes.post('/cart/update', form, (req, res) => {
    const fields = fieldsOf(req);
    const cart = kit.cart(req);
    const quantity = fields['remove'] === '1' ? 0 : quantityOf(fields['quantity'] ?? '');
    const sku = fields['sku'] ?? '';
    if (quantity !== null && cart.has(sku)) keepCart(res, withQuantity(cart, sku, quantity));
    res.redirect(303, '/cart');
  });

  routes.get('/checkout', (req, res, next) => {
    const totals = totalsOf(kit.cart(req), catalogue);
    if (totals.lines.length === 0) return res.redirect(303, '/cart');
    kit.send(req, res, next, (site) => <Checkout site={site} totals={totals} form={emptyCheckout} />);
  });

  routes.post('/checkout', form, (req, res, next) => {
    const totals = totalsOf(kit.cart(req), catalogue);
    if (totals.lines.length === 0) return res.redirect(303, '/cart');
    const filled = readCheckout(fieldsOf(req));
    if (Object.keys(filled.errors).length > 0) {
      kit.send(req, res, next, (site) => <Checkout site={site} totals={totals} form={filled} />, 422);
      return;
    }
    const number = `TW-${randomInt(100_000, 1_000_000)}`;
    keep(res, orderCookie, [number, totals.total_cents, totals.count].join(':'), orderAge_ms);
    keepCart(res, new Map());
    res.redirect(303, '/thanks');
  });

  routes.get('/thanks', (req, res, next) => {
    const [number, total, count] = (
      unseal(orderCookie, readCookie(req.headers.cookie, orderCookie), secret) ?? ''
    ).split(':');
    if (number === undefined || total === undefined || count === undefined) return res.redirect(303, '/');
    const order = { number, total_cents: Number(total), count: Number(count) };
    kit.send(req, res, next, (site) => <Thanks site={site} order={order} />);
  });

  return routes;
}

/** The body's fields that are plain text; a field given twice, or no body at all, counts as not given. */
function fieldsOf(req: Request): Record<string, string> {
  const body: unknown = req.body;
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function quantityOf(text: string): number | null {
  return /^\d{1,3}$/.test(text) ? Number(text) : null;
}
