/** Parts of products as plain data: each has what some view of the product shows, and no more. */

import type { Product, Variant } from '../catalogue/types.js';
import type { Card, Choices, Facts } from './schema.js';

export function cardOf(product: Product): Card {
  const { id, slug, name, summary, price_cents, was_cents, rating, stock, sold, added_day, colours } =
    product;
  return {
    id,
    slug,
    name,
    summary,
    price_cents,
    was_cents,
    rating,
    stock,
    sold,
    added_day,
    colours,
    maker: { name: product.maker.name },
    material: { name: product.material.name },
    reviews: { length: product.reviews.length },
    category: { hue: product.category.hue },
    kind: { art: product.kind.art },
    variants: product.variants.map(({ sku, size, price_cents: cents, stock: left, colour }) => ({
      sku,
      size,
      price_cents: cents,
      stock: left,
      colour: { name: colour.name },
    })),
  };
}

export function factsOf(product: Product): Facts {
  const { category, kind, maker, description, highlights, specs } = product;
  return {
    ...cardOf(product),
    description,
    highlights,
    specs,
    maker: { name: maker.name, slug: maker.slug, town: maker.town },
    category: { hue: category.hue, slug: category.slug, name: category.name },
    kind: { art: kind.art, slug: kind.slug, plural: kind.plural },
  };
}

export function choicesOf({ colours, kind, variants }: Product): Choices {
  return {
    colours,
    sizes: kind.sizes,
    variants: variants.map(({ sku, size, price_cents, stock, colour }) => ({
      sku,
      size,
      price_cents,
      stock,
      colour: colour.slug,
    })),
  };
}

/** First choice that is not sold out. */
export function firstInStock<Choice extends Pick<Variant, 'stock'>>({
  variants,
}: {
  variants: readonly Choice[];
}): Choice | undefined {
  return variants.find(({ stock }) => stock > 0);
}
