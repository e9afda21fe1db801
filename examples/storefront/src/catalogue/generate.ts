/**
 * Makes the shop's goods from the word lists: 12 categories × 5 kinds × 12 products. Each product has a generator
 * of its own, seeded by its number, so that a change to one leaves the others as they were.
 */

import { categories } from './categories.js';
import { descriptionOf, highlightsOf, reviewOf, summaryOf } from './prose.js';
import type { Subject } from './prose.js';
import { random as seeded } from './random.js';
import type { Random } from './random.js';
import type { Category, Colour, Kind, Product, Review, Spec, Variant } from './types.js';
import { collections, colours, makers, materials, slugOf } from './words.js';

const productsPerKind = 12;

export function generateProducts(): Product[] {
  const products: Product[] = [];
  for (const category of categories) {
    for (const kind of category.kinds) {
      // One collection name per product of a kind keeps names, and so slugs, apart.
      const names = seeded(1000 + products.length).sample(collections, productsPerKind);
      for (const collection of names)
        products.push(productOf(products.length + 1, category, kind, collection));
    }
  }
  return products;
}

function productOf(id: number, category: Category, kind: Kind, collection: string): Product {
  const random = seeded(7919 * id);
  const materialSlug = random.pick(kind.materials);
  const material = materials.find((each) => each.slug === materialSlug);
  if (material === undefined)
    throw new Error(`The kind ${kind.slug} names an unknown material: ${materialSlug}`);
  const subject: Subject = {
    kind,
    maker: random.pick(makers),
    material,
    collection,
    colours: random.sample(colours, random.int(2, 5)),
  };
  const name = `${collection} ${kind.name.toLowerCase()}`;
  const price_cents = priceOf(random, kind);
  const variants = variantsOf(random, category, id, kind, subject.colours, price_cents);
  const stock = variants.reduce((sum, variant) => sum + variant.stock, 0);
  const liking = random.unit();
  const reviews = Array.from({ length: random.int(2, 16) }, (_, index) =>
    reviewOf(random, subject, `${id}-${index + 1}`, liking),
  ).sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0));
  const sold = random.int(3, 900);
  return {
    id,
    slug: slugOf(name),
    name,
    category,
    kind,
    maker: subject.maker,
    material,
    collection,
    summary: summaryOf(random, subject),
    description: descriptionOf(random, subject),
    highlights: highlightsOf(random, subject),
    colours: subject.colours,
    variants,
    specs: specsOf(random, subject, price_cents, stock, reviews),
    reviews,
    price_cents,
    was_cents: random.chance(0.22)
      ? Math.round((price_cents * (1.15 + random.unit() * 0.4)) / 100) * 100
      : null,
    rating: averageOf(reviews),
    rating_counts: [1, 2, 3, 4, 5].map((stars) => reviews.filter((each) => each.rating === stars).length),
    stock,
    sold,
    added_day: random.int(0, 1400),
  };
}

function priceOf(random: Random, kind: Kind): number {
  const span = kind.price_cents_max - kind.price_cents_min;
  // Squared, because most goods of a kind are nearer to its cheapest than to its dearest.
  const euros = Math.round((kind.price_cents_min + span * random.unit() ** 2) / 100);
  return euros * 100 - random.pick([0, 10, 50]);
}

function variantsOf(
  random: Random,
  category: Category,
  id: number,
  kind: Kind,
  chosen: readonly Colour[],
  price_cents: number,
): Variant[] {
  const sizes: (string | null)[] = kind.sizes.length > 0 ? [...kind.sizes] : [null];
  return chosen.flatMap((colour) =>
    sizes.map((size, place) => ({
      sku: `${category.code}-${String(id).padStart(4, '0')}-${colour.slug}-${place}`,
      colour,
      size,
      price_cents: Math.round((price_cents * (1 + place * 0.15)) / 10) * 10,
      stock: random.chance(0.14) ? 0 : random.int(1, 40),
    })),
  );
}

function specsOf(
  random: Random,
  subject: Subject,
  price_cents: number,
  stock: number,
  reviews: readonly Review[],
): Spec[] {
  const { kind, maker, material } = subject;
  const weight_g = random.int(kind.weight_g_min, kind.weight_g_max);
  const length_mm = Math.round(kind.length_mm * (0.8 + random.unit() * 0.4));
  const width_mm = Math.round(length_mm * (0.4 + random.unit() * 0.5));
  const height_mm = Math.round(length_mm * (0.2 + random.unit() * 0.4));
  const warranty_years = random.pick([2, 3, 5, 10, 15, 25]);
  const carbon_kg = Math.round((weight_g / 1000) * (2 + random.unit() * 9) * 10) / 10;
  const recycled_percent = random.int(0, 20) * 5;
  const dispatch_days = random.pick([1, 1, 2, 3, 5]);
  const repair = random.int(3, 10);
  const text = (name: string, words: string): Spec => ({ name, text: words, value: null, better: null });
  const low = (name: string, value: number, words: string): Spec => ({
    name,
    text: words,
    value,
    better: 'low',
  });
  const high = (name: string, value: number, words: string): Spec => ({
    name,
    text: words,
    value,
    better: 'high',
  });
  return [
    text('Made by', maker.name),
    text('Made in', maker.town),
    text('Series', subject.collection),
    text('Material', material.name),
    text('Care', material.care),
    text('Colours', subject.colours.map((colour) => colour.name).join(', ')),
    text('Sizes', kind.sizes.length > 0 ? kind.sizes.join(', ') : 'One size'),
    { name: 'Length', text: `${length_mm} mm`, value: length_mm, better: null },
    { name: 'Width', text: `${width_mm} mm`, value: width_mm, better: null },
    { name: 'Height', text: `${height_mm} mm`, value: height_mm, better: null },
    low('Weight', weight_g, weight_g < 1000 ? `${weight_g} g` : `${(weight_g / 1000).toFixed(1)} kg`),
    low('Price per kilo', price_cents / weight_g, `€${Math.round((price_cents / weight_g) * 10)}`),
    high('Recycled content', recycled_percent, `${recycled_percent} %`),
    low('Carbon footprint', carbon_kg, `${carbon_kg} kg CO₂e`),
    high('Repair score', repair, `${repair} of 10`),
    high('Guarantee', warranty_years, `${warranty_years} years`),
    low('Leaves us in', dispatch_days, dispatch_days === 1 ? '1 day' : `${dispatch_days} days`),
    high('In stock', stock, String(stock)),
    high('Rating', averageOf(reviews), averageOf(reviews).toFixed(1)),
    high('Reviews', reviews.length, String(reviews.length)),
  ];
}

function averageOf(reviews: readonly Review[]): number {
  const sum = reviews.reduce((total, review) => total + review.rating, 0);
  return reviews.length === 0 ? 0 : Math.round((sum / reviews.length) * 10) / 10;
}
