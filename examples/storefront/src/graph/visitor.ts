/** Who asks the graph: cart and customer of one request. */

import type { Request } from 'express';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Customer } from '../data/customers.js';
import type { Data } from '../data/data.js';
import { formatCart, parseCart } from '../shop/cart.js';
import type { Cart } from '../shop/cart.js';
import { readCookie, seal, unseal } from '../shop/signed-cookie.js';

export interface VisitorOptions {
  catalogue: Catalogue;
  data: Data;
  /** Signs cookies. */
  secret: string;
}

export const sessionCookie = 'session';
const cartCookie = 'cart';
const cartAge_ms = 30 * 86_400_000;

export class Visitor {
  /** Page for which the source of reviews fails, to show what a visitor sees then. */
  readonly failsReviews: boolean;
  readonly #req: Request;
  readonly #options: VisitorOptions;
  #cart: Cart | undefined;

  constructor(req: Request, options: VisitorOptions) {
    this.#req = req;
    this.#options = options;
    this.failsReviews = req.path.startsWith('/p/') && req.originalUrl.endsWith('?fail=1');
  }

  get cart(): Cart {
    if (this.#cart === undefined) {
      const sealed = readCookie(this.#req.headers.cookie, cartCookie);
      const { catalogue, secret } = this.#options;
      this.#cart =
        sealed === undefined ? new Map() : parseCart(unseal(cartCookie, sealed, secret), catalogue);
    }
    return this.#cart;
  }

  /** Puts the cart into the answer's cookie, as the next request may reach another process. */
  set cart(cart: Cart) {
    this.#cart = cart;
    const attributes = { httpOnly: true, sameSite: 'lax', path: '/' } as const;
    const { res } = this.#req;
    if (cart.size === 0) res?.clearCookie(cartCookie, attributes);
    else
      res?.cookie(cartCookie, seal(cartCookie, formatCart(cart), this.#options.secret), {
        ...attributes,
        maxAge: cartAge_ms,
      });
  }

  get customer(): Customer | null {
    return this.#options.data.customers.signedIn(readCookie(this.#req.headers.cookie, sessionCookie));
  }
}

/** Returns the visitor of a request, the same each time. */
export type VisitorOf = (req: Request) => Visitor;

export function visitorsBy(options: VisitorOptions): VisitorOf {
  const visitors = new WeakMap<Request, Visitor>();
  return (req) => {
    let visitor = visitors.get(req);
    if (visitor === undefined) visitors.set(req, (visitor = new Visitor(req, options)));
    return visitor;
  };
}
