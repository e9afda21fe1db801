'use client';

import Image from 'next/image';
import Link from 'next/link';
import { useId, useMemo, useState } from 'react';

const PRICE = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' });

export default function Card({ product }) {
  const [isOpen, setOpen] = useState(false);
  const heading = useId();
  return (
    <li className={isOpen ? 'card open' : 'card'}>
      <article aria-labelledby={heading}>
        <Image src={product.picture} alt="" width={320} height={240} />
        <h2 id={heading}>{product.name}</h2>
        <Price cents={product.cents} reduction={product.reduction} />
        <Rating stars={product.stars} count={product.reviews} />
        <Tags names={product.tags} />
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More of {product.name}
        </button>
        <Link href={`/light/${product.id}`} prefetch={false}>
          To the product
        </Link>
      </article>
    </li>
  );
}

function Price({ cents, reduction }) {
  const now = useMemo(() => PRICE.format((cents * (100 - reduction)) / 10_000), [cents, reduction]);
  return (
    <p className="price">
      {reduction > 0 && <s>{PRICE.format(cents / 100)}</s>} <strong>{now}</strong>
    </p>
  );
}

function Rating({ stars, count }) {
  return (
    <p className="rating" aria-label={`${stars} of 5 stars`}>
      {[1, 2, 3, 4, 5].map((star) => (
        <Star key={star} isFull={star <= stars} />
      ))}
      <small>({count})</small>
    </p>
  );
}

function Star({ isFull }) {
  return (
    <svg className="star" viewBox="0 0 10 10" aria-hidden="true">
      <path d="M5 0 6 4h4L7 6l1 4-3-2-3 2 1-4-3-2h4z" fill={isFull ? 'gold' : 'none'} />
    </svg>
  );
}

function Tags({ names }) {
  return (
    <ul className="tags">
      {names.map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  );
}
