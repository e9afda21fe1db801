/** Lines and sum of the cart: an island, whose forms work before and without its script. */

import { useEffect, useRef, useState } from 'react';
import type { ReactNode, SubmitEvent } from 'react';
import { setQuantity } from '../graph/cart-calls.js';
import { useModel, useValue } from '../graph/hooks.js';
import { quantityMax } from '../shop/cart.js';
import { money } from '../shop/money.js';
import { ProductArt } from './ProductArt.js';
import { Totals } from './Totals.js';

export function CartLines(): ReactNode {
  const model = useModel();
  const skus = useValue('cart.skus') ?? [];
  const totals = useValue('cart.totals');
  const [message, setMessage] = useState('');
  if (skus.length === 0 || totals === undefined)
    return (
      <div className="empty">
        <p>There is nothing in it yet.</p>
        <p>
          <a className="button" href="/products">
            See everything
          </a>
        </p>
      </div>
    );

  function change(sku: string, quantity: number): void {
    setMessage('');
    setQuantity(model, sku, quantity).catch((error: unknown) => setMessage((error as Error).message));
  }

  return (
    <div className="cart">
      <div>
        <ul className="cart-lines">
          {skus.map((sku) => (
            <Line key={sku} sku={sku} change={change} />
          ))}
        </ul>
        <p className="buy-message" role="status">
          {message}
        </p>
      </div>
      <aside className="summary" aria-label="Total">
        <Totals totals={totals} />
        <a className="button" href="/checkout">
          Go to checkout
        </a>
      </aside>
    </div>
  );
}

interface LineProps {
  sku: string;
  change: (sku: string, quantity: number) => void;
}

function Line({ sku, change }: LineProps): ReactNode {
  const item = useValue(`cart.lines["${sku}"].item`);
  const quantity = useValue(`cart.lines["${sku}"].quantity`) ?? 0;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null) input.current.value = String(quantity);
  }, [quantity]);
  if (item === undefined) return null;
  const { product, colour, size, price_cents } = item;
  const id = `quantity-${sku}`;

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const isRemoved = (event.submitter as HTMLButtonElement | null)?.name === 'remove';
    change(sku, isRemoved ? 0 : Number(new FormData(event.currentTarget).get('quantity')));
  }

  return (
    <li className="cart-line">
      <ProductArt product={product} colour={colour} />
      <div>
        <h2>
          <a href={`/p/${product.slug}`}>{product.name}</a>
        </h2>
        <p>
          {colour.name}
          {size === null ? null : `, ${size.toLowerCase()}`} · {money(price_cents)} each
        </p>
        <form className="inline-form" method="post" action="/cart/update" onSubmit={submit}>
          <input type="hidden" name="sku" value={sku} />
          <label htmlFor={id}>Quantity</label>
          <input
            id={id}
            ref={input}
            name="quantity"
            type="number"
            min={0}
            max={quantityMax}
            defaultValue={quantity}
          />
          <button className="button button-plain" type="submit">
            Change
          </button>
          <button className="button button-plain" type="submit" name="remove" value="1">
            Remove
          </button>
        </form>
      </div>
      <p className="price-now">{money(price_cents * quantity)}</p>
    </li>
  );
}
