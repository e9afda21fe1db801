/** Signing in and out, and a customer's orders. No page but these depends on who is signed in, so that the others can be kept for all. */

import { Router } from 'express';
import type { NextFunction, Request, Response } from 'express';
import { password, session_ms } from '../data/customers.js';
import type { Customer } from '../data/customers.js';
import type { Data } from '../data/data.js';
import { Account, SignIn } from '../pages/Account.js';
import type { SignInForm } from '../pages/Account.js';
import { shopGraph } from '../graph/schema.js';
import { sessionCookie } from '../graph/visitor.js';
import { readCookie } from '../shop/signed-cookie.js';
import { fieldsOf, formBody } from './forms.js';
import { later } from './kit.js';
import type { PageKit } from './kit.js';

export interface AccountOptions {
  kit: PageKit;
  data: Data;
}

export function accountRoutes({ kit, data }: AccountOptions): Router {
  const routes = Router();
  const { customers } = data;
  const attributes = (req: Request) =>
    ({ httpOnly: true, sameSite: 'lax', path: '/', secure: req.secure }) as const;
  const signIn = (req: Request, res: Response, customer: Customer): void => {
    // A token that was there before opens nothing any more.
    customers.end(readCookie(req.headers.cookie, sessionCookie));
    res.cookie(sessionCookie, customers.begin(customer), { ...attributes(req), maxAge: session_ms });
    res.redirect(303, '/account');
  };

  routes.get(
    '/account',
    later(async (req, res, next) => {
      if (kit.visitor(req).customer === null) return res.redirect(303, '/login');
      const read = await shopGraph.model(kit.graph(req).model.unbatch()).get('me["name","orders"]');
      const { name = '', orders = [] } = read?.json.me ?? {};
      kit.send(req, res, next, (site) => <Account site={site} name={name} orders={orders} />);
    }),
  );

  routes.get('/login', (req, res, next) => {
    if (kit.visitor(req).customer !== null) return res.redirect(303, '/account');
    kit.send(req, res, next, (site) => <SignIn site={site} form={{}} />);
  });

  const login = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const { email = '', password: given = '' } = fieldsOf(req);
    const customer = given.length > password.length_max ? null : await customers.check(email.trim(), given);
    if (customer !== null) return signIn(req, res, customer);
    const form: SignInForm = { email, error: 'Address or password are wrong.' };
    kit.send(req, res, next, (site) => <SignIn site={site} form={form} />, { status: 401 });
  };

  const register = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const { name = '', email = '', password: given = '' } = fieldsOf(req);
    const refuse = (error: string, status: number): void => {
      const form: SignInForm = { name, email, error };
      kit.send(req, res, next, (site) => <SignIn site={site} form={form} />, { status });
    };
    if (!/\S{2,}/.test(name) || name.length > 80) return refuse('Please give your name.', 422);
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email.trim()) || email.length > 120)
      return refuse('Please give an e-mail address.', 422);
    if (given.length < password.length_min || given.length > password.length_max)
      return refuse(`A password has ${password.length_min} to ${password.length_max} characters.`, 422);
    const customer = await customers.register(name.trim(), email.trim(), given);
    if (customer === null) return refuse('There is an account with this address already.', 409);
    signIn(req, res, customer);
  };

  routes.post('/login', formBody, later(login));
  routes.post('/register', formBody, later(register));

  routes.post('/logout', (req, res) => {
    customers.end(readCookie(req.headers.cookie, sessionCookie));
    res.clearCookie(sessionCookie, attributes(req));
    res.redirect(303, '/');
  });

  return routes;
}
