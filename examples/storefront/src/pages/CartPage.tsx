import type { ReactNode } from 'react';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductArt } from '../components/ProductArt.js';
import { Breadcrumbs } from '../components/small.js';
import { freeDeliveryFromCents, quantityMax } from '../shop/cart.js';
import type { CartLine, CartTotals } from '../shop/cart.js';
import { money } from '../shop/money.js';

export function CartPage({ site, totals }: { site: Site; totals: CartTotals }): ReactNode {
  return (
    <Layout site={site} title="Your cart">
      <Breadcrumbs crumbs={[{ name: 'Your cart' }]} />
      <h1>Your cart</h1>
      {totals.lines.length === 0 ? (
        <div className="empty">
          <p>There is nothing in it yet.</p>
          <p>
            <a className="button" href="/products">
              See everything
            </a>
          </p>
        </div>
      ) : (
        <div className="cart">
          <ul className="cart-lines">
            {totals.lines.map((line) => (
              <Line key={line.variant.sku} line={line} />
            ))}
          </ul>
          <aside className="summary" aria-label="Total">
            <Totals totals={totals} />
            <a className="button" href="/checkout">
              Go to checkout
            </a>
          </aside>
        </div>
      )}
    </Layout>
  );
}

function Line({ line }: { line: CartLine }): ReactNode {
  const { product, variant, quantity } = line;
  const id = `quantity-${variant.sku}`;
  return (
    <li className="cart-line">
      <ProductArt product={product} colour={variant.colour} />
      <div>
        <h2>
          <a href={`/p/${product.slug}`}>{product.name}</a>
        </h2>
        <p>
          {variant.colour.name}
          {variant.size === null ? null : `, ${variant.size.toLowerCase()}`} · {money(variant.price_cents)}{' '}
          each
        </p>
        <form className="inline-form" method="post" action="/cart/update">
          <input type="hidden" name="sku" value={variant.sku} />
          <label htmlFor={id}>Quantity</label>
          <input id={id} name="quantity" type="number" min={0} max={quantityMax} defaultValue={quantity} />
          <button className="button button-plain" type="submit">
            Change
          </button>
          <button className="button button-plain" type="submit" name="remove" value="1">
            Remove
          </button>
        </form>
      </div>
      <p className="price-now">{money(line.total_cents)}</p>
    </li>
  );
}

export function Totals({ totals }: { totals: CartTotals }): ReactNode {
  return (
    <dl className="totals">
      <div>
        <dt>Goods</dt>
        <dd>{money(totals.goods_cents)}</dd>
      </div>
      <div>
        <dt>Delivery</dt>
        <dd>{totals.delivery_cents === 0 ? 'Free' : money(totals.delivery_cents)}</dd>
      </div>
      <div className="totals-sum">
        <dt>To pay</dt>
        <dd>{money(totals.total_cents)}</dd>
      </div>
      {totals.delivery_cents === 0 ? null : <p>Delivery is free from {money(freeDeliveryFromCents)}.</p>}
    </dl>
  );
}
