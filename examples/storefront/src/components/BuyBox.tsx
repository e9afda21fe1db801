/**
 * Colour, size, quantity and the button: an island that works as a plain form until its script is there. It gets
 * only what it needs as props, since they travel in the page.
 */

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { money } from '../shop/money.js';

export interface BuyBoxProps {
  id: string;
  slug: string;
  colours: readonly { slug: string; name: string; hex: string }[];
  sizes: readonly string[];
  variants: readonly { colour: string; size: string | null; price_cents: number; stock: number }[];
}

export interface CartAnswer {
  count: number;
  total_cents: number;
  message: string;
}

export function BuyBox({ id, slug, colours, sizes, variants }: BuyBoxProps): ReactNode {
  const first = variants.find((variant) => variant.stock > 0) ?? variants[0];
  const [colour, setColour] = useState(first?.colour ?? '');
  const [size, setSize] = useState(first?.size ?? null);
  const [message, setMessage] = useState('');
  const [busy, setBusy] = useState(false);
  const variant = variants.find((each) => each.colour === colour && each.size === size);
  const soldOut = variant === undefined || variant.stock === 0;

  async function submit(event: SyntheticEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget)) {
      if (typeof value === 'string') fields.append(name, value);
    }
    setBusy(true);
    try {
      const answer = await fetch('/cart', {
        method: 'POST',
        body: fields,
        headers: { accept: 'application/json' },
      });
      const cart = (await answer.json()) as CartAnswer;
      setMessage(cart.message);
      if (answer.ok) window.dispatchEvent(new CustomEvent<CartAnswer>('cart', { detail: cart }));
    } catch {
      setMessage('The shop cannot be reached just now. Please try again.');
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="buy" method="post" action="/cart" onSubmit={(event) => void submit(event)}>
      <input type="hidden" name="product" value={slug} />
      <fieldset className="facet">
        <legend>Colour</legend>
        <div className="choices">
          {colours.map((each) => (
            <label key={each.slug} className="choice">
              <input
                type="radio"
                name="colour"
                value={each.slug}
                checked={each.slug === colour}
                onChange={() => setColour(each.slug)}
              />
              <span className="swatch" style={{ backgroundColor: each.hex }} aria-hidden="true" />
              {each.name}
            </label>
          ))}
        </div>
      </fieldset>
      {sizes.length === 0 ? null : (
        <fieldset className="facet">
          <legend>Size</legend>
          <div className="choices">
            {sizes.map((each) => (
              <label key={each} className="choice">
                <input
                  type="radio"
                  name="size"
                  value={each}
                  checked={each === size}
                  onChange={() => setSize(each)}
                />
                {each}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <p className="buy-price" aria-live="polite">
        {variant === undefined ? '' : money(variant.price_cents)}
        <span className={soldOut ? 'stock stock-none' : 'stock'}>
          {soldOut ? 'Sold out in this choice' : `${variant.stock} ready to leave`}
        </span>
      </p>
      <div className="buy-row">
        <label htmlFor={`${id}-quantity`}>Quantity</label>
        <input id={`${id}-quantity`} name="quantity" type="number" min={1} max={20} defaultValue={1} />
        <button className="button" type="submit" disabled={busy || soldOut}>
          Add to cart
        </button>
      </div>
      <p className="buy-message" role="status">
        {message}
      </p>
    </form>
  );
}
