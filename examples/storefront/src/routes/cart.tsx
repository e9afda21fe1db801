/**
 * Cart and checkout. The cart is in the visitor's signed cookie, since the next request may reach another process; an order is in the
 * database.
 */

import { Router } from 'express';
import type { Request, Response } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Data } from '../data/data.js';
import type { Shortage } from '../data/orders.js';
import { CartPage } from '../pages/CartPage.js';
import { Checkout, Thanks } from '../pages/Checkout.js';
import { countOf, formatCart, totalsOf, withQuantity } from '../shop/cart.js';
import type { Cart } from '../shop/cart.js';
import { emptyCheckout, readCheckout } from '../shop/checkout.js';
import type { CheckoutForm } from '../shop/checkout.js';
import { readCookie, seal, unseal } from '../shop/signed-cookie.js';
import { purge } from '@sluice/preload';
import { customerOf } from './account.js';
import { fieldsOf, formBody } from './forms.js';
import { cartCookie } from './kit.js';
import type { PageKit } from './kit.js';

export interface CartOptions {
  kit: PageKit;
  catalogue: Catalogue;
  data: Data;
  secret: string;
}

const orderCookie = 'order';
const cartAge_ms = 30 * 86_400_000;
const orderAge_ms = 3_600_000;

export function cartRoutes({ kit, catalogue, data, secret }: CartOptions): Router {
  const routes = Router();
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

  routes.post('/cart', formBody, (req, res) => {
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
    } else if (variant.stock < (before.get(variant.sku) ?? 0) + wanted) {
      [status, message] = [409, `There are only ${variant.stock} of this choice left.`];
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

  routes.post('/cart/update', formBody, (req, res) => {
    const fields = fieldsOf(req);
    const cart = kit.cart(req);
    const quantity = fields['remove'] === '1' ? 0 : quantityOf(fields['quantity'] ?? '');
    const sku = fields['sku'] ?? '';
    if (quantity !== null && cart.has(sku)) keepCart(res, withQuantity(cart, sku, quantity));
    res.redirect(303, '/cart');
  });

  // Who is signed in has told us the first two fields.
  const formFor = (req: Request): CheckoutForm => {
    const customer = customerOf(req, data);
    return customer === null
      ? emptyCheckout
      : { values: { name: customer.name, email: customer.email }, errors: {} };
  };

  routes.get('/checkout', (req, res, next) => {
    const totals = totalsOf(kit.cart(req), catalogue);
    if (totals.lines.length === 0) return res.redirect(303, '/cart');
    kit.send(req, res, next, (site) => <Checkout site={site} totals={totals} form={formFor(req)} />);
  });

  routes.post('/checkout', formBody, (req, res, next) => {
    const totals = totalsOf(kit.cart(req), catalogue);
    if (totals.lines.length === 0) return res.redirect(303, '/cart');
    const filled = readCheckout(fieldsOf(req));
    if (Object.keys(filled.errors).length > 0) {
      kit.send(req, res, next, (site) => <Checkout site={site} totals={totals} form={filled} />, 422);
      return;
    }
    const placed = data.orders.place(totals, filled.values, customerOf(req, data)?.id ?? null);
    data.stock.refresh();
    if (!placed.ok) {
      const errors = { stock: placed.short.map(shortage).join(' ') };
      const form = { ...filled, errors };
      kit.send(req, res, next, (site) => <Checkout site={site} totals={totals} form={form} />, 409);
      return;
    }
    dropPagesOf(totals.lines.map(({ product }) => product.id));
    keep(res, orderCookie, [placed.number, totals.total_cents, totals.count].join(':'), orderAge_ms);
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

function shortage({ line, left }: Shortage): string {
  const name = `${line.product.name}, ${line.variant.colour.name.toLowerCase()}`;
  return left === 0 ? `${name}: sold out.` : `${name}: only ${left} left.`;
}

/** Kept pages that show these goods are made anew. The order stands whether or not that comes to pass. */
function dropPagesOf(products: readonly number[]): void {
  Promise.all(products.map((id) => purge({ tag: `product-${id}` }))).catch((error: unknown) => {
    console.error('Pages with sold goods stay as they are until they expire:', error);
  });
}

function quantityOf(text: string): number | null {
  return /^\d{1,3}$/.test(text) ? Number(text) : null;
}
