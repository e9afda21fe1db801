/** The goods with the look-ups that the shop needs. Built once at start-up and never changed after. */

import { categories } from './categories.js';
import { generateProducts } from './generate.js';
import type { Category, Colour, Maker, Material, Product, Variant } from './types.js';
import { colours, makers, materials } from './words.js';

export interface Catalogue {
  products: readonly Product[];
  categories: readonly Category[];
  makers: readonly Maker[];
  materials: readonly Material[];
  colours: readonly Colour[];
  category(slug: string): Category | undefined;
  product(slug: string): Product | undefined;
  variant(sku: string): { product: Product; variant: Variant } | undefined;
  inCategory(category: Category): readonly Product[];
}

export function createCatalogue(): Catalogue {
  const products = generateProducts();
  const bySlug = new Map(products.map((product) => [product.slug, product]));
  const bySku = new Map(
    products.flatMap((product) =>
      product.variants.map((variant) => [variant.sku, { product, variant }] as const),
    ),
  );
  const byCategory = new Map<Category, Product[]>();
  for (const product of products) {
    const list = byCategory.get(product.category) ?? [];
    list.push(product);
    byCategory.set(product.category, list);
  }
  const categoryBySlug = new Map(categories.map((category) => [category.slug, category]));
  return {
    products,
    categories,
    makers,
    materials,
    colours,
    category: (slug) => categoryBySlug.get(slug),
    product: (slug) => bySlug.get(slug),
    variant: (sku) => bySku.get(sku),
    inCategory: (category) => byCategory.get(category) ?? [],
  };
}
