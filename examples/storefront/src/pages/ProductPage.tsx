import { Suspense, use } from 'react';
import type { ReactNode } from 'react';
import { Cached } from '@sluice/react';
import type { Product, Review } from '../catalogue/types.js';
import { BuyBox } from '../components/BuyBox.js';
import type { BuyBoxProps } from '../components/BuyBox.js';
import { Island } from '../components/Island.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductArt } from '../components/ProductArt.js';
import { ProductGrid } from '../components/ProductCard.js';
import { Badges, Breadcrumbs, Stars } from '../components/small.js';

export interface ProductPageProps {
  site: Site;
  product: Product;
  /** Gives the same promise each time: React asks again when it has been kept. */
  recommendations: () => Promise<readonly Product[]>;
}

/** They are the same for all who look at the product. Within that time nothing is scored again, and the page waits for nothing. */
const recommendations_ttl_ms = 60_000;

export function ProductPage({ site, product, recommendations }: ProductPageProps): ReactNode {
  const { category, kind } = product;
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
          <Buy product={product} />
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
      <Reviews product={product} />
    </Layout>
  );
}

function Gallery({ product }: { product: Product }): ReactNode {
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

function Buy({ product }: { product: Product }): ReactNode {
  const props: BuyBoxProps = {
    id: `buy-${product.id}`,
    slug: product.slug,
    colours: product.colours,
    sizes: product.kind.sizes,
    variants: product.variants.map(({ colour, size, price_cents, stock }) => ({
      colour: colour.slug,
      size,
      price_cents,
      stock,
    })),
  };
  return (
    <Island name="buy" props={props}>
      <BuyBox {...props} />
    </Island>
  );
}

function SpecTable({ product }: { product: Product }): ReactNode {
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

function Recommendations({ products }: { products: () => Promise<readonly Product[]> }): ReactNode {
  return (
    <section className="recommendations">
      <h2>Goes well with</h2>
      <ProductGrid products={use(products())} label="Recommendations" />
    </section>
  );
}

function Reviews({ product }: { product: Product }): ReactNode {
  const { reviews, rating_counts } = product;
  return (
    <section className="reviews" aria-labelledby="reviews">
      <h2 id="reviews">What people say</h2>
      <div className="reviews-sum">
        <p className="reviews-rating">
          {product.rating.toFixed(1)} <Stars rating={product.rating} />
        </p>
        <ol className="bars">
          {rating_counts.map((count, at) => (
            <li key={at}>
              <span>{at + 1}★</span>
              <meter min={0} max={reviews.length} value={count} aria-label={`${at + 1} stars`} />
              <span>{count}</span>
            </li>
          ))}
        </ol>
      </div>
      <ul className="review-list">
        {reviews.map((review) => (
          <ReviewItem key={review.id} review={review} />
        ))}
      </ul>
    </section>
  );
}

function ReviewItem({ review }: { review: Review }): ReactNode {
  return (
    <li className="review">
      <h3>{review.title}</h3>
      <p className="review-by">
        <Stars rating={review.rating} /> {review.author}, <time dateTime={review.date}>{review.date}</time>
        {review.verified ? <span className="badge badge-new">Bought here</span> : null}
      </p>
      <p>{review.body}</p>
      <p className="review-note">
        Bought: {review.bought}
        {review.helpful > 0 ? ` · helped ${review.helpful}` : null}
      </p>
    </li>
  );
}
