import type { ReactNode } from 'react';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs } from '../components/small.js';
import { Totals } from '../components/Totals.js';
import type { CartTotals } from '../shop/cart.js';
import { checkoutFields } from '../shop/checkout.js';
import type { CheckoutForm } from '../shop/checkout.js';
import { money } from '../shop/money.js';

export interface CheckoutProps {
  site: Site;
  totals: CartTotals;
  form: CheckoutForm;
}

export function Checkout({ site, totals, form }: CheckoutProps): ReactNode {
  const wrong = checkoutFields.filter((field) => form.errors[field.name] !== undefined);
  return (
    <Layout site={site} title="Checkout">
      <Breadcrumbs crumbs={[{ name: 'Your cart', href: '/cart' }, { name: 'Checkout' }]} />
      <h1>Checkout</h1>
      {Object.keys(form.errors).length === 0 ? null : (
        <div className="alert" role="alert">
          <p>Something is missing:</p>
          <ul>
            {form.errors['stock'] === undefined ? null : (
              <li>
                <a href="/cart">{form.errors['stock']}</a>
              </li>
            )}
            {wrong.map((field) => (
              <li key={field.name}>
                <a href={`#checkout-${field.name}`}>{form.errors[field.name]}</a>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="cart">
        <form className="checkout" method="post" action="/checkout">
          {checkoutFields.map((field) => {
            const id = `checkout-${field.name}`;
            const error = form.errors[field.name];
            return (
              <div key={field.name} className="field">
                <label htmlFor={id}>{field.label}</label>
                <input
                  id={id}
                  name={field.name}
                  type={field.type}
                  autoComplete={field.autocomplete}
                  maxLength={field.length_max}
                  defaultValue={form.values[field.name] ?? ''}
                  required
                  aria-invalid={error === undefined ? undefined : true}
                  aria-describedby={error === undefined ? undefined : `${id}-error`}
                />
                {error === undefined ? null : (
                  <p id={`${id}-error`} className="field-error">
                    {error}
                  </p>
                )}
              </div>
            );
          })}
          <button className="button" type="submit">
            Order for {money(totals.total_cents)}
          </button>
          <p>Nothing is charged and nothing is sent: this shop is an example.</p>
        </form>
        <aside className="summary" aria-label="Total">
          <Totals totals={totals} />
        </aside>
      </div>
    </Layout>
  );
}

export interface ThanksProps {
  site: Site;
  order: { number: string; total_cents: number; count: number };
}

export function Thanks({ site, order }: ThanksProps): ReactNode {
  return (
    <Layout site={site} title="Thank you">
      <div className="empty">
        <h1>Thank you.</h1>
        <p>
          Order <strong>{order.number}</strong> is on its way to our packers: {order.count}{' '}
          {order.count === 1 ? 'piece' : 'pieces'} for {money(order.total_cents)}.
        </p>
        <p>
          <a className="button" href="/products">
            Look around some more
          </a>
        </p>
      </div>
    </Layout>
  );
}
