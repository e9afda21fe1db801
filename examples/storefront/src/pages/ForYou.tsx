import { Suspense, use } from 'react';
import type { ReactNode } from 'react';
import type { Product } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductGrid } from '../components/ProductCard.js';
import { Breadcrumbs } from '../components/small.js';

export interface Shelf {
  title: string;
  /** Gives the same promise each time it is asked during one render. */
  products: () => Promise<readonly Product[]>;
}

/** A page that streams: each shelf waits for a back end of its own and is sent as soon as that has answered. */
export function ForYou({ site, shelves }: { site: Site; shelves: readonly Shelf[] }): ReactNode {
  return (
    <Layout site={site} title="For you">
      <Breadcrumbs crumbs={[{ name: 'For you' }]} />
      <h1>For you</h1>
      <p className="lead">
        Each shelf arrives when its back end has answered; the page does not wait for the slowest.
      </p>
      {shelves.map((shelf) => (
        <section key={shelf.title}>
          <h2>{shelf.title}</h2>
          <Suspense fallback={<p className="loading">Stocking this shelf…</p>}>
            <ShelfGoods shelf={shelf} />
          </Suspense>
        </section>
      ))}
    </Layout>
  );
}

function ShelfGoods({ shelf }: { shelf: Shelf }): ReactNode {
  return <ProductGrid products={use(shelf.products())} label={shelf.title} />;
}
