'use client';

import { useState } from 'react';
import type { Colour, Product } from './data';
import { useReady } from './ready';

const STARS = [1, 2, 3, 4, 5];

export default function Card(product: Product) {
  const [colour, setColour] = useState(0);
  const [added, setAdded] = useState(0);
  useReady('Card');
  const path = `/p/${product.slug}`;
  return (
    <article className="card">
      <a className="card-picture" href={path} tabIndex={-1} aria-hidden={true}>
        <Picture id={product.id} colours={product.colours} chosen={colour} />
      </a>
      <Badges badges={product.badges} isReduced={product.was_cents !== null} />
      <h3 className="card-name">
        <a href={path}>{product.name}</a>
      </h3>
      <p className="card-maker">
        by <em>{product.maker}</em>
      </p>
      <p className="card-text">{product.text}</p>
      <Rating rating={product.rating} reviews={product.reviews} />
      <div className="swatches" role="group" aria-label="Colours">
        {product.colours.map(({ name, hex }, at) => (
          <button
            key={name}
            type="button"
            className={at === colour ? 'swatch chosen' : 'swatch'}
            style={{ backgroundColor: hex }}
            aria-label={name}
            aria-pressed={at === colour}
            onClick={() => setColour(at)}
          />
        ))}
      </div>
      <div className="card-row">
        <Price cents={product.price_cents} was_cents={product.was_cents} />
        <Stock stock={product.stock} />
      </div>
      <button
        type="button"
        className="add"
        disabled={product.stock === 0}
        aria-label={`Add ${product.name} to the cart`}
        onClick={() => setAdded(added + 1)}
      >
        {added === 0 ? 'Add to cart' : `${added} in the cart`}
      </button>
    </article>
  );
}

function Picture({ id, colours, chosen }: { id: number; colours: Colour[]; chosen: number }) {
  return (
    <svg viewBox="0 0 100 100" width={240} height={240}>
      <rect width={100} height={100} fill={colours[chosen]?.hex} />
      <circle cx={50} cy={50} r={10 + (id % 30)} fill={colours[1]?.hex} fillOpacity={0.6} />
      <path d="M10 90 L50 20 L90 90 Z" fill="none" stroke="#000" strokeWidth={2} strokeLinecap="round" />
    </svg>
  );
}

function Badges({ badges, isReduced }: { badges: string[]; isReduced: boolean }) {
  if (badges.length === 0 && !isReduced) return null;
  return (
    <ul className="badges">
      {isReduced ? <li className="badge reduced">Reduced</li> : null}
      {badges.map((badge) => (
        <li key={badge} className="badge">
          {badge}
        </li>
      ))}
    </ul>
  );
}

function Rating({ rating, reviews }: { rating: number; reviews: number }) {
  return (
    <div className="rating" role="img" aria-label={`${rating} of 5`}>
      {STARS.map((star) => (
        <span key={star} className={rating >= star ? 'star full' : rating > star - 1 ? 'star half' : 'star'}>
          ★
        </span>
      ))}
      <span className="reviews">({reviews})</span>
    </div>
  );
}

const money = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

function Price({ cents, was_cents }: { cents: number; was_cents: number | null }) {
  return (
    <p className="price">
      {was_cents === null ? null : <s>€ {money(was_cents)}</s>}
      <strong>€ {money(cents)}</strong>
    </p>
  );
}

function Stock({ stock }: { stock: number }) {
  if (stock === 0) return <p className="stock none">Sold out</p>;
  return <p className={stock < 4 ? 'stock few' : 'stock'}>{stock < 4 ? `Only ${stock} left` : 'In stock'}</p>;
}
