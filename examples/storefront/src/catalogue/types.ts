/** The shapes of the shop's goods. Prices are whole cents, weights grams, lengths millimetres. */

export interface Colour {
  slug: string;
  name: string;
  hex: string;
}

export interface Maker {
  slug: string;
  name: string;
  town: string;
  since: number;
}

export interface Material {
  slug: string;
  name: string;
  care: string;
}

/** One sort of thing a category sells; every kind gets the same number of products. */
export interface Kind {
  slug: string;
  name: string;
  plural: string;
  art: string;
  price_cents_min: number;
  price_cents_max: number;
  weight_g_min: number;
  weight_g_max: number;
  length_mm: number;
  materials: readonly string[];
  sizes: readonly string[];
  use: string;
}

export interface Category {
  slug: string;
  name: string;
  code: string;
  blurb: string;
  hue: number;
  kinds: readonly Kind[];
}

export interface Variant {
  sku: string;
  colour: Colour;
  size: string | null;
  price_cents: number;
  stock: number;
}

export interface Review {
  id: string;
  author: string;
  rating: number;
  title: string;
  body: string;
  date: string;
  bought: string;
  verified: boolean;
  helpful: number;
}

export interface Spec {
  name: string;
  text: string;
  /** What a comparison sorts by; null where no order makes sense. */
  value: number | null;
  better: 'high' | 'low' | null;
}

export interface Product {
  id: number;
  slug: string;
  name: string;
  category: Category;
  kind: Kind;
  maker: Maker;
  material: Material;
  collection: string;
  summary: string;
  description: readonly string[];
  highlights: readonly string[];
  colours: readonly Colour[];
  variants: readonly Variant[];
  specs: readonly Spec[];
  reviews: readonly Review[];
  price_cents: number;
  was_cents: number | null;
  rating: number;
  rating_counts: readonly number[];
  stock: number;
  sold: number;
  /** Days since the shop opened; the newest product has the highest. */
  added_day: number;
}
