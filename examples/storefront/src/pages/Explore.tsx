import type { ReactNode } from 'react';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs } from '../components/small.js';
import { crossTable } from '../shop/facets.js';
import type { FacetKey } from '../shop/filters.js';
import { money } from '../shop/money.js';

export interface ExploreProps {
  site: Site;
  catalogue: Catalogue;
  products: readonly Product[];
  text: string;
}

const tables: readonly { title: string; rows: FacetKey; columns: FacetKey }[] = [
  { title: 'Categories by maker', rows: 'category', columns: 'maker' },
  { title: 'Materials by category', rows: 'material', columns: 'category' },
  { title: 'Makers by colour', rows: 'maker', columns: 'colour' },
  { title: 'Kinds by colour', rows: 'kind', columns: 'colour' },
  { title: 'Kinds by maker', rows: 'kind', columns: 'maker' },
  { title: 'Makers by material', rows: 'maker', columns: 'material' },
];

/** The shop by numbers: every pair of facets with a link to what is behind each count. */
export function Explore({ site, catalogue, products, text }: ExploreProps): ReactNode {
  const title = text === '' ? 'The shop by numbers' : `“${text}” by numbers`;
  return (
    <Layout site={site} title={title}>
      <Breadcrumbs crumbs={[{ name: 'Explore' }]} />
      <h1>{title}</h1>
      <p className="lead">{products.length} products. Each number leads to what it counts.</p>
      <form className="inline-form" method="get" action="/explore">
        <label htmlFor="explore-text">Only products that match</label>
        <input id="explore-text" type="search" name="q" defaultValue={text} maxLength={80} />
        <button className="button" type="submit">
          Count again
        </button>
      </form>
      <Prices products={products} />
      {tables.map((table) => (
        <Cross key={table.title} catalogue={catalogue} products={products} text={text} {...table} />
      ))}
    </Layout>
  );
}

interface CrossProps {
  catalogue: Catalogue;
  products: readonly Product[];
  text: string;
  title: string;
  rows: FacetKey;
  columns: FacetKey;
}

function Cross({ catalogue, products, text, title, rows, columns }: CrossProps): ReactNode {
  const table = crossTable(catalogue, products, rows, columns);
  const query = text === '' ? '' : `&q=${encodeURIComponent(text)}`;
  const path = text === '' ? '/products' : '/search';
  return (
    <section>
      <h2>{title}</h2>
      <div className="wide" tabIndex={0} role="region" aria-label={title}>
        <table className="cross">
          <thead>
            <tr>
              <td />
              {table.columns.map((column) => (
                <th key={column.slug} scope="col">
                  <a href={`${path}?${columns}=${column.slug}${query}`}>{column.name}</a>
                </th>
              ))}
              <th scope="col">All</th>
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, rowAt) => (
              <tr key={row.slug}>
                <th scope="row">
                  <a href={`${path}?${rows}=${row.slug}${query}`}>{row.name}</a>
                </th>
                {table.columns.map((column, at) => (
                  <CrossCell
                    key={column.slug}
                    count={table.counts[rowAt]?.[at] ?? 0}
                    count_max={table.count_max}
                    href={`${path}?${rows}=${row.slug}&${columns}=${column.slug}${query}`}
                  />
                ))}
                <td className="cross-total">{row.total}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">All</th>
              {table.columns.map((column) => (
                <td key={column.slug} className="cross-total">
                  {column.total}
                </td>
              ))}
              <td />
            </tr>
          </tfoot>
        </table>
      </div>
    </section>
  );
}

function CrossCell({
  count,
  count_max,
  href,
}: {
  count: number;
  count_max: number;
  href: string;
}): ReactNode {
  if (count === 0) return <td className="cross-none">·</td>;
  const strength = Math.round((count / count_max) * 45) / 100;
  return (
    <td style={{ backgroundColor: `rgba(31, 78, 95, ${strength})` }}>
      <a href={href}>{count}</a>
    </td>
  );
}

const bins = 40;

/** A histogram on a logarithmic scale: most prices are small. */
function Prices({ products }: { products: readonly Product[] }): ReactNode {
  if (products.length === 0) return null;
  const logs = products.map((product) => Math.log(product.price_cents));
  const low = Math.min(...logs);
  const step = (Math.max(...logs) - low) / bins || 1;
  const counts = Array.from({ length: bins }, () => 0);
  for (const value of logs) {
    const at = Math.min(bins - 1, Math.floor((value - low) / step));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const highest = Math.max(...counts);
  return (
    <figure className="histogram">
      <svg viewBox={`0 0 ${bins * 10} 120`} role="img" aria-label="How many products there are at each price">
        {counts.map((count, at) => (
          <rect
            key={at}
            x={at * 10 + 1}
            width={8}
            y={110 - (count / highest) * 100}
            height={(count / highest) * 100}
            rx={2}
            fill="#1f4e5f"
          >
            <title>{`${money(Math.round(Math.exp(low + at * step) / 100) * 100)}: ${count}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        Prices from {money(Math.round(Math.exp(low)))} to {money(Math.round(Math.exp(low + bins * step)))}
      </figcaption>
    </figure>
  );
}
