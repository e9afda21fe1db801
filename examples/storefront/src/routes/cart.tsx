/** Cart and checkout. Forms change the cart by the graph's functions, as scripts do; an order is in the database. */

import { Router } from 'express';
import type { Request } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import type { Data } from '../data/data.js';
import type { Shortage } from '../data/orders.js';
import { CartPage } from '../pages/CartPage.js';
import { Checkout, Thanks } from '../pages/Checkout.js';
import { graphTag } from '@sluice/graph/wire';
import { RouteError } from '@sluice/graph/router';
import type { Router as GraphRouter } from '@sluice/graph/router';
import type { Visitor } from '../graph/visitor.js';
import { countOf, totalsOf } from '../shop/cart.js';
import type { CartTotals } from '../shop/cart.js';
import { emptyCheckout, readCheckout } from '../shop/checkout.js';
import type { CheckoutForm } from '../shop/checkout.js';
import { readCookie, seal, unseal } from '../shop/signed-cookie.js';
import { purge } from '@sluice/preload';
import { fieldsOf, formBody } from './forms.js';
import { later } from './kit.js';
import type { PageKit } from './kit.js';

export interface CartOptions {
  kit: PageKit;
  catalogue: Catalogue;
  data: Data;
  secret: string;
  router: GraphRouter<Visitor>;
}

const orderCookie = 'order';
const orderAge_ms = 3_600_000;

export function cartRoutes({ kit, catalogue, data, secret, router }: CartOptions): Router {
  const routes = Router();
  const totals = (req: Request): CartTotals => totalsOf(kit.visitor(req).cart, catalogue);

  routes.get(
    '/cart',
    later(async (req, res, next) => {
      const graph = kit.graph(req);
      const skus = [...kit.visitor(req).cart.keys()];
      await graph.model
        .unbatch()
        .get(['cart', ['skus', 'totals']], ['cart', 'lines', skus, ['item', 'quantity']]);
      kit.send(req, res, next, (site) => <CartPage site={site} />, { graph });
    }),
  );

  // What a page for all leaves open: it is put in where the page is composed.
  routes.get('/cart/summary', (req, res) => {
    res.setHeader('cache-control', 'private, no-store');
    res.type('html').send(String(countOf(kit.visitor(req).cart)));
  });

  /** Calls a function of the visitor's cart, as a script would. Resolves to what it was refused with. */
  const change = async (
    req: Request,
    name: 'add' | 'set',
    args: unknown[],
  ): Promise<RouteError | undefined> => {
    try {
      await router.call(['cart', name], args, [], [], { data: kit.visitor(req) });
      return undefined;
    } catch (error) {
      if (error instanceof RouteError && error.statusCode < 500) return error;
      throw error;
    }
  };

  routes.post(
    '/cart',
    formBody,
    later(async (req, res) => {
      const { sku, product = '', colour, size = null, quantity = '1' } = fieldsOf(req);
      const choice = catalogue
        .product(product)
        ?.variants.find((each) => each.colour.slug === colour && each.size === size);
      const refused = await change(req, 'add', [sku ?? choice?.sku ?? '', quantityOf(quantity)]);
      if (refused === undefined) return res.redirect(303, '/cart');
      res.status(refused.statusCode).type('text').send(refused.message);
    }),
  );

  routes.post(
    '/cart/update',
    formBody,
    later(async (req, res) => {
      const { sku = '', quantity = '', remove } = fieldsOf(req);
      await change(req, 'set', [sku, remove === '1' ? 0 : quantityOf(quantity)]);
      res.redirect(303, '/cart');
    }),
  );

  // Who is signed in has told us the first two fields.
  const formFor = (req: Request): CheckoutForm => {
    const { customer } = kit.visitor(req);
    return customer === null
      ? emptyCheckout
      : { values: { name: customer.name, email: customer.email }, errors: {} };
  };

  routes.get('/checkout', (req, res, next) => {
    const cart = totals(req);
    if (cart.lines.length === 0) return res.redirect(303, '/cart');
    kit.send(req, res, next, (site) => <Checkout site={site} totals={cart} form={formFor(req)} />);
  });

  routes.post('/checkout', formBody, (req, res, next) => {
    const cart = totals(req);
    if (cart.lines.length === 0) return res.redirect(303, '/cart');
    const filled = readCheckout(fieldsOf(req));
    if (Object.keys(filled.errors).length > 0) {
      kit.send(req, res, next, (site) => <Checkout site={site} totals={cart} form={filled} />, {
        status: 422,
      });
      return;
    }
    const placed = data.orders.place(cart, filled.values, kit.visitor(req).customer?.id ?? null);
    data.stock.refresh();
    if (!placed.ok) {
      const errors = { stock: placed.short.map(shortage).join(' ') };
      const form = { ...filled, errors };
      kit.send(req, res, next, (site) => <Checkout site={site} totals={cart} form={form} />, { status: 409 });
      return;
    }
    dropPagesOf(cart.lines.map(({ product }) => product));
    const order = [placed.number, cart.total_cents, cart.count].join(':');
    const attributes = { httpOnly: true, sameSite: 'lax', path: '/', maxAge: orderAge_ms } as const;
    res.cookie(orderCookie, seal(orderCookie, order, secret), attributes);
    kit.visitor(req).cart = new Map();
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

/** Kept pages and data that show these goods are made anew. The order stands whether or not that comes to pass. */
function dropPagesOf(products: readonly Product[]): void {
  const tags = products.flatMap(({ id, slug }) => [`product-${id}`, graphTag(['products', slug])]);
  Promise.all(tags.map((tag) => purge({ tag }))).catch((error: unknown) => {
    console.error('Pages with sold goods stay as they are until they expire:', error);
  });
}

/** NaN for what is no quantity, which the graph's schema refuses. */
function quantityOf(text: string): number {
  return /^\d{1,3}$/.test(text) ? Number(text) : NaN;
}
