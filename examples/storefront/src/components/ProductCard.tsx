import { memo } from 'react';
import type { ReactNode } from 'react';
import { Cached } from '@sluice/react';
import { firstInStock } from '../graph/parts.js';
import type { Card } from '../graph/schema.js';
import { money } from '../shop/money.js';
import { ProductArt } from './ProductArt.js';
import { Badges, Marked, Price, Stars, Stock, Swatches } from './small.js';

export interface ProductCardProps {
  product: Card;
  words?: readonly string[];
}

/** One product in a grid. The link covers the card; the list inside stays readable for screen readers. */
export const ProductCard = memo(function ProductCard({ product, words = [] }: ProductCardProps): ReactNode {
  return (
    <article className="card">
      <a className="card-link" href={`/p/${product.slug}`}>
        <ProductArt product={product} />
        <h3 className="card-name">
          <Marked text={product.name} words={words} />
        </h3>
      </a>
      <Badges product={product} />
      <p className="card-maker">
        {product.maker.name} · {product.material.name}
      </p>
      <p className="card-summary">
        <Marked text={product.summary} words={words} />
      </p>
      <div className="card-row">
        <Stars rating={product.rating} count={product.reviews.length} />
        <Swatches colours={product.colours} />
      </div>
      <div className="card-row">
        <Price product={product} />
        <Stock stock={product.stock} />
      </div>
      <QuickAdd product={product} />
    </article>
  );
});

/** Straight into the cart, without the product's page; the select names every choice that is in stock. */
function QuickAdd({ product }: { product: Card }): ReactNode {
  const first = firstInStock(product);
  if (first === undefined) return null;
  return (
    <form className="quick" method="post" action="/cart">
      <select name="sku" defaultValue={first.sku} aria-label={`Choice of ${product.name}`}>
        {product.variants.map((variant) => (
          <option key={variant.sku} value={variant.sku} disabled={variant.stock === 0}>
            {variant.size === null
              ? variant.colour.name
              : `${variant.colour.name}, ${variant.size.toLowerCase()}`}
            {variant.price_cents === product.price_cents ? null : ` · ${money(variant.price_cents)}`}
          </option>
        ))}
      </select>
      <button type="submit" className="quick-add" aria-label={`Add ${product.name} to the cart`}>
        Add
      </button>
    </form>
  );
}

const card_ttl_ms = 60_000;

export interface ProductGridProps {
  products: readonly Card[];
  words?: readonly string[];
  label: string;
}

/** A card is the same for all who see it, on whatever page, but for the words that a search has marked in it. */
export function ProductGrid({ products, words = [], label }: ProductGridProps): ReactNode {
  return (
    <ul className="grid" aria-label={label}>
      {products.map((product) => (
        <li key={product.id}>
          <Cached
            cacheKey={words.length > 0 ? null : `card ${product.id}`}
            tags={[`product-${product.id}`]}
            ttl_ms={card_ttl_ms}
          >
            <ProductCard product={product} words={words} />
          </Cached>
        </li>
      ))}
    </ul>
  );
}
