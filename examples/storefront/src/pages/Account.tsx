import type { ReactNode } from 'react';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs } from '../components/small.js';
import { password } from '../data/customers.js';
import type { Order } from '../data/orders.js';
import { money } from '../shop/money.js';

export interface SignInForm {
  name?: string;
  email?: string;
  error?: string;
}

export function SignIn({ site, form }: { site: Site; form: SignInForm }): ReactNode {
  return (
    <Layout site={site} title="Sign in">
      <Breadcrumbs crumbs={[{ name: 'Sign in' }]} />
      <h1>Sign in</h1>
      {form.error === undefined ? null : (
        <div className="alert" role="alert">
          <p>{form.error}</p>
        </div>
      )}
      <div className="cart">
        <form className="checkout" method="post" action="/login">
          <h2>You have an account</h2>
          <Field id="login" name="email" label="E-mail" value={form.email} complete="username" />
          <Field id="login" name="password" label="Password" complete="current-password" />
          <button className="button" type="submit">
            Sign in
          </button>
        </form>
        <form className="checkout" method="post" action="/register">
          <h2>You have none yet</h2>
          <Field id="register" name="name" label="Name" value={form.name} complete="name" />
          <Field id="register" name="email" label="E-mail" value={form.email} complete="username" />
          <Field id="register" name="password" label="Password" complete="new-password" />
          <p>{password.length_min} characters or more.</p>
          <button className="button button-plain" type="submit">
            Open an account
          </button>
        </form>
      </div>
    </Layout>
  );
}

interface FieldProps {
  id: string;
  name: 'name' | 'email' | 'password';
  label: string;
  value?: string | undefined;
  complete: string;
}

function Field({ id, name, label, value, complete }: FieldProps): ReactNode {
  const own = `${id}-${name}`;
  return (
    <div className="field">
      <label htmlFor={own}>{label}</label>
      <input
        id={own}
        name={name}
        type={name === 'name' ? 'text' : name}
        autoComplete={complete}
        defaultValue={value ?? ''}
        required
      />
    </div>
  );
}

export interface AccountProps {
  site: Site;
  name: string;
  orders: readonly Order[];
}

export function Account({ site, name, orders }: AccountProps): ReactNode {
  return (
    <Layout site={site} title="Your account">
      <Breadcrumbs crumbs={[{ name: 'Your account' }]} />
      <h1>Hello, {name}</h1>
      <h2>Your orders</h2>
      {orders.length === 0 ? (
        <p>You have not ordered anything yet.</p>
      ) : (
        <table className="specs">
          <thead>
            <tr>
              <th scope="col">Order</th>
              <th scope="col">Day</th>
              <th scope="col">Pieces</th>
              <th scope="col">Total</th>
            </tr>
          </thead>
          <tbody>
            {orders.map((order) => (
              <tr key={order.number}>
                <th scope="row">{order.number}</th>
                <td>{new Date(order.created_ms).toISOString().slice(0, 10)}</td>
                <td>{order.lines.reduce((sum, line) => sum + line.quantity, 0)}</td>
                <td>{money(order.total_cents)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <form className="inline-form" method="post" action="/logout">
        <button className="button button-plain" type="submit">
          Sign out
        </button>
      </form>
    </Layout>
  );
}
