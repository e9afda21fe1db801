import { Suspense, use } from 'react';
import type { ReactNode } from 'react';
import { Cached } from '@sluice/react';
import { BuyBox } from '../components/BuyBox.js';
import { Island } from '../components/Island.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductArt } from '../components/ProductArt.js';
import { ProductGrid } from '../components/ProductCard.js';
import { Reviews } from '../components/Reviews.js';
import { Badges, Breadcrumbs, Stars } from '../components/small.js';
import type { Card, Facts } from '../graph/schema.js';

export interface ProductPageProps {
  site: Site;
  product: Facts;
  /** The source of reviews has failed. */
  hasNoReviews: boolean;
  /** Gives the same promise each time: React asks again when it has been kept. */
  recommendations: () => Promise<readonly Card[]>;
}

/** They are the same for all who look at the product. Within that time nothing is scored again, and the page waits for nothing. */
const recommendations_ttl_ms = 60_000;

export function ProductPage({ site, product, hasNoReviews, recommendations }: ProductPageProps): ReactNode {
  const { category, kind, slug } = product;
  const reviews = { slug, isFailed: hasNoReviews };
  const buy = { id: `buy-${product.id}`, slug };
  return (
    <Layout site={site} title={product.name} description={product.summary}>
      <Breadcrumbs
        crumbs={[
          { name: category.name, href: `/c/${category.slug}` },
          { name: kind.plural, href: `/c/${category.slug}?kind=${kind.slug}` },
          { name: product.name },
        ]}
      />
      <article className="product">
        <Gallery product={product} />
        <div className="product-facts">
          <Badges product={product} />
          <h1>{product.name}</h1>
          <p className="card-maker">
            by <a href={`/products?maker=${product.maker.slug}`}>{product.maker.name}</a>,{' '}
            {product.maker.town}
          </p>
          <Stars rating={product.rating} count={product.reviews.length} />
          <p className="lead">{product.summary}</p>
          <Island name="buy" props={buy}>
            <BuyBox {...buy} />
          </Island>
          <ul className="ticks">
            {product.highlights.map((highlight) => (
              <li key={highlight}>{highlight}</li>
            ))}
          </ul>
        </div>
      </article>
      <div className="product-more">
        <section>
          <h2>About it</h2>
          {product.description.map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </section>
        <SpecTable product={product} />
      </div>
      <Suspense fallback={<p className="loading">Looking for things that go with it…</p>}>
        <Cached
          awaits
          cacheKey={`goes with ${product.id}`}
          tags={[`product-${product.id}`]}
          ttl_ms={recommendations_ttl_ms}
        >
          <Recommendations products={recommendations} />
        </Cached>
      </Suspense>
      <Island name="reviews" props={reviews}>
        <Reviews {...reviews} />
      </Island>
    </Layout>
  );
}

function Gallery({ product }: { product: Facts }): ReactNode {
  return (
    <div className="gallery">
      <ProductArt product={product} />
      <ul>
        {product.colours.map((colour, at) => (
          <li key={colour.slug}>
            <ProductArt product={{ ...product, id: product.id + 10_000 * (at + 1) }} colour={colour} />
            <span>{colour.name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function SpecTable({ product }: { product: Facts }): ReactNode {
  return (
    <section>
      <h2>In numbers</h2>
      <table className="specs">
        <tbody>
          {product.specs.map((spec) => (
            <tr key={spec.name}>
              <th scope="row">{spec.name}</th>
              <td>{spec.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <a href={`/compare/${product.category.slug}?kind=${product.kind.slug}`}>
          Compare all {product.kind.plural.toLowerCase()}
        </a>
      </p>
    </section>
  );
}

function Recommendations({ products }: { products: () => Promise<readonly Card[]> }): ReactNode {
  return (
    <section className="recommendations">
      <h2>Goes well with</h2>
      <ProductGrid products={use(products())} label="Recommendations" />
    </section>
  );
}
