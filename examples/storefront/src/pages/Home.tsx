import type { ReactNode } from 'react';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Category } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductArt } from '../components/ProductArt.js';
import { ProductGrid } from '../components/ProductCard.js';
import { sorted } from '../shop/filters.js';

export function Home({ site, catalogue }: { site: Site; catalogue: Catalogue }): ReactNode {
  const loved = sorted(catalogue.products, 'popular').slice(0, 8);
  const fresh = sorted(catalogue.products, 'new').slice(0, 4);
  return (
    <Layout site={site} title="Plain, well-made things">
      <section className="hero">
        <div>
          <h1>Plain things, made to be kept.</h1>
          <p>
            {catalogue.products.length} goods from {catalogue.makers.length} small workshops. Every one can be
            repaired, and every part of it ordered.
          </p>
          <p className="hero-actions">
            <a className="button" href="/products">
              See everything
            </a>
            <a className="button button-plain" href="/about">
              Who we are
            </a>
          </p>
        </div>
        <div className="hero-art" aria-hidden="true">
          {loved.slice(0, 4).map((product) => (
            <ProductArt key={product.id} product={{ ...product, id: product.id + 10_000 }} />
          ))}
        </div>
      </section>
      <section>
        <h2>Browse by category</h2>
        <ul className="tiles">
          {catalogue.categories.map((category) => (
            <CategoryTile
              key={category.slug}
              category={category}
              count={catalogue.inCategory(category).length}
            />
          ))}
        </ul>
      </section>
      <section>
        <h2>Much loved</h2>
        <ProductGrid products={loved} label="Much loved" />
      </section>
      <section>
        <h2>New on the shelf</h2>
        <ProductGrid products={fresh} label="New on the shelf" />
      </section>
    </Layout>
  );
}

function CategoryTile({ category, count }: { category: Category; count: number }): ReactNode {
  const { hue } = category;
  return (
    <li>
      <a
        className="tile"
        href={`/c/${category.slug}`}
        style={{
          background: `linear-gradient(135deg, hsl(${hue} 50% 93%), hsl(${(hue + 24) % 360} 42% 80%))`,
        }}
      >
        <strong>{category.name}</strong>
        <span>{category.blurb}</span>
        <small>{count} goods</small>
      </a>
    </li>
  );
}
