/** The little parts that most pages share. */

import type { ReactNode } from 'react';
import type { Colour, Product } from '../catalogue/types.js';
import type { Card } from '../graph/schema.js';
import { money } from '../shop/money.js';

export function Price({ product }: { product: Pick<Product, 'price_cents' | 'was_cents'> }): ReactNode {
  return (
    <p className="price">
      <span className={product.was_cents === null ? 'price-now' : 'price-now price-sale'}>
        {money(product.price_cents)}
      </span>
      {product.was_cents === null ? null : (
        <s className="price-was">
          <span className="visually-hidden">was </span>
          {money(product.was_cents)}
        </s>
      )}
    </p>
  );
}

export function Stars({ rating, count }: { rating: number; count?: number }): ReactNode {
  return (
    <span className="stars">
      <span className="visually-hidden">{rating.toFixed(1)} of 5 stars</span>
      <span className="stars-row" aria-hidden="true">
        {[1, 2, 3, 4, 5].map((place) => (
          <Star key={place} filled={rating >= place - 0.25} half={rating >= place - 0.75} />
        ))}
      </span>
      {count === undefined ? null : <span className="stars-count">({count})</span>}
    </span>
  );
}

function Star({ filled, half }: { filled: boolean; half: boolean }): ReactNode {
  return <span className={filled ? 'star star-full' : half ? 'star star-half' : 'star'}>★</span>;
}

export function Swatches({ colours }: { colours: readonly Colour[] }): ReactNode {
  return (
    <ul className="swatches" aria-label="Colours">
      {colours.map((colour) => (
        <li key={colour.slug}>
          <span className="swatch" style={{ backgroundColor: colour.hex }} title={colour.name} />
          <span className="visually-hidden">{colour.name}</span>
        </li>
      ))}
    </ul>
  );
}

export function Stock({ stock }: { stock: number }): ReactNode {
  if (stock === 0) return <span className="stock stock-none">Sold out</span>;
  if (stock < 12) return <span className="stock stock-low">Only {stock} left</span>;
  return <span className="stock">In stock</span>;
}

export function Badges({ product }: { product: Card }): ReactNode {
  return (
    <span className="badges">
      {product.was_cents === null ? null : (
        <Badge tone="sale">−{Math.round((1 - product.price_cents / product.was_cents) * 100)} %</Badge>
      )}
      {product.added_day > 1300 ? <Badge tone="new">New</Badge> : null}
      {product.sold > 850 ? <Badge tone="loved">Much loved</Badge> : null}
    </span>
  );
}

function Badge({ tone, children }: { tone: string; children: ReactNode }): ReactNode {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}

export interface Crumb {
  name: string;
  href?: string;
}

export function Breadcrumbs({ crumbs }: { crumbs: readonly Crumb[] }): ReactNode {
  return (
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        <li>
          <a href="/">Home</a>
        </li>
        {crumbs.map((crumb) => (
          <li key={crumb.name}>
            {crumb.href === undefined ? (
              <span aria-current="page">{crumb.name}</span>
            ) : (
              <a href={crumb.href}>{crumb.name}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Text with the words that were searched for marked. */
export function Marked({ text, words }: { text: string; words: readonly string[] }): ReactNode {
  if (words.length === 0) return text;
  const parts = text.split(new RegExp(`\\b(${words.join('|')})`, 'gi'));
  return parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}
