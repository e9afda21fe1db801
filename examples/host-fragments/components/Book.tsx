import { useState } from 'react';

export interface BookProps {
  title: string;
  author: string;
  price_cents: number;
}

export default function Book({ title, author, price_cents }: BookProps) {
  const [count, setCount] = useState(0);
  return (
    <article>
      <h1>{title}</h1>
      <p>by {author}</p>
      <p>€ {(price_cents / 100).toFixed(2)}</p>
      <button type="button" onClick={() => setCount(count + 1)}>
        {count === 0 ? 'Add to cart' : `${count} in the cart`}
      </button>
    </article>
  );
}
