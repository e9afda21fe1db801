import type { ReactNode } from 'react';
import { ChosenFilters, FacetPanel, Pagination, ShowMore, chosenCount } from '../components/FacetPanel.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductGrid } from '../components/ProductCard.js';
import { Breadcrumbs } from '../components/small.js';
import type { Listing } from '../shop/facets.js';
import { sorts } from '../shop/filters.js';

export interface ListingPageProps {
  site: Site;
  listing: Listing;
  title: string;
  blurb: string;
  path: string;
  words?: readonly string[];
}

/** A grid of goods beside its filters: everything, a category, or what a search found. */
export function ListingPage({ site, listing, title, blurb, path, words = [] }: ListingPageProps): ReactNode {
  const { products, total, filters } = listing;
  return (
    <Layout site={site} title={title} description={blurb}>
      <Breadcrumbs crumbs={[{ name: title }]} />
      <h1>{title}</h1>
      <p className="lead">{blurb}</p>
      <div className="listing">
        <details className="listing-filters">
          <summary>Filters{chosenCount(filters) > 0 ? ` (${chosenCount(filters)})` : ''}</summary>
          <FacetPanel listing={listing} path={path} />
        </details>
        <section aria-labelledby="found">
          <p id="found" className="listing-found">
            <span>
              {total === 1 ? '1 product' : `${total} products`}, {sorts[filters.sort].toLowerCase()}
            </span>
            {path === '/products' ? <ShowMore listing={listing} path={path} /> : null}
          </p>
          <ChosenFilters listing={listing} path={path} />
          {products.length === 0 ? (
            <NothingFound />
          ) : (
            <ProductGrid products={products} words={words} label={title} />
          )}
          <Pagination listing={listing} path={path} />
        </section>
      </div>
    </Layout>
  );
}

function NothingFound(): ReactNode {
  return (
    <div className="empty">
      <p>Nothing on the shelves matches.</p>
      <p>
        Try fewer filters, another spelling, or <a href="/products">everything we have</a>.
      </p>
    </div>
  );
}
