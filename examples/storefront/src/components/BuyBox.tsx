/** Colour, size, quantity and the button: an island that works as a plain form until its script is there. */

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { addToCart } from '../graph/cart-calls.js';
import { useModel, useValue } from '../graph/hooks.js';
import { firstInStock } from '../graph/parts.js';
import { money } from '../shop/money.js';

export interface BuyBoxProps {
  id: string;
  slug: string;
}

export function BuyBox({ id, slug }: BuyBoxProps): ReactNode {
  const model = useModel();
  const { colours = [], sizes = [], variants = [] } = useValue(`products["${slug}"].choices`) ?? {};
  const first = firstInStock({ variants }) ?? variants[0];
  const [colour, setColour] = useState(first?.colour ?? '');
  const [size, setSize] = useState(first?.size ?? null);
  const [message, setMessage] = useState('');
  const [busy, setBusy] = useState(false);
  const variant = variants.find((each) => each.colour === colour && each.size === size);
  const soldOut = variant === undefined || variant.stock === 0;

  async function submit(event: SyntheticEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (variant === undefined) return;
    const quantity = Number(new FormData(event.currentTarget).get('quantity'));
    setBusy(true);
    try {
      await addToCart(model, variant.sku, quantity);
      setMessage('Added to your cart.');
    } catch (error) {
      setMessage((error as Error).message);
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
