import type { ReactNode } from 'react';
import { ChosenFilters, FacetPanel, ShowMore, chosenCount } from '../components/FacetPanel.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Results, ResultsOf } from '../components/Results.js';
import { Island } from '../components/Island.js';
import { Breadcrumbs } from '../components/small.js';
import type { About, Card } from '../graph/schema.js';
import type { Found } from '../shop/listings.js';
import { sorts } from '../shop/filters.js';

export interface ListingPageProps {
  site: Site;
  found: Found;
  about: About;
  /** Products of the page. Without them the page reads them from the graph, and has them for the browser, too. */
  products?: readonly Card[];
}

/** A grid of goods beside its filters: everything, a category, or what a search found. */
export function ListingPage({ site, found, about, products }: ListingPageProps): ReactNode {
  const { title, blurb, path, address, per_page, words } = found;
  const { total, filters, page, pages } = about;
  const results = { address, label: title, page, pages, per_page, words };
  return (
    <Layout site={site} title={title} description={blurb}>
      <Breadcrumbs crumbs={[{ name: title }]} />
      <h1>{title}</h1>
      <p className="lead">{blurb}</p>
      <div className="listing">
        <details className="listing-filters">
          <summary>Filters{chosenCount(filters) > 0 ? ` (${chosenCount(filters)})` : ''}</summary>
          <FacetPanel listing={about} path={path} />
        </details>
        <section aria-labelledby="found">
          <p id="found" className="listing-found">
            <span>
              {total === 1 ? '1 product' : `${total} products`}, {sorts[filters.sort].toLowerCase()}
            </span>
            {path === '/products' ? <ShowMore listing={about} path={path} /> : null}
          </p>
          <ChosenFilters listing={about} path={path} />
          {total === 0 ? (
            <NothingFound />
          ) : products === undefined ? (
            <Island name="results" props={results}>
              <Results {...results} />
            </Island>
          ) : (
            <Island name="results" props={results} isLate>
              <ResultsOf {...results} products={products} />
            </Island>
          )}
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
