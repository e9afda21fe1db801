import { useMemo } from 'react';
import type { ReactNode } from 'react';
import type { Category, Product, Spec } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs, Price, Stars } from '../components/small.js';

export interface CompareProps {
  site: Site;
  category: Category;
  kind: string | null;
  products: readonly Product[];
}

interface Row {
  name: string;
  cells: readonly { product: Product; spec: Spec | undefined; rank: number | null; share: number }[];
}

/** A column per product and a row per property, with the three best values of a row marked. */
export function Compare({ site, category, kind, products }: CompareProps): ReactNode {
  const rows = useMemo(() => rowsOf(products), [products]);
  const title = `Compare ${kind ?? category.name.toLowerCase()}`;
  return (
    <Layout site={site} title={title}>
      <Breadcrumbs crumbs={[{ name: category.name, href: `/c/${category.slug}` }, { name: title }]} />
      <h1>{title}</h1>
      <p className="lead">
        {products.length} products by {rows.length} properties. The three best in a row are marked.
      </p>
      <ul className="chips" aria-label="Kinds">
        <li>
          <a className="chip" href={`/compare/${category.slug}`}>
            All
          </a>
        </li>
        {category.kinds.map((each) => (
          <li key={each.slug}>
            <a className="chip" href={`/compare/${category.slug}?kind=${each.slug}`}>
              {each.plural}
            </a>
          </li>
        ))}
      </ul>
      <div className="wide" tabIndex={0} role="region" aria-label={title}>
        <table className="compare">
          <thead>
            <tr>
              <td />
              {products.map((product) => (
                <th key={product.id} scope="col">
                  <a href={`/p/${product.slug}`}>{product.name}</a>
                  <Price product={product} />
                  <Stars rating={product.rating} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <CompareRow key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </Layout>
  );
}

function CompareRow({ row }: { row: Row }): ReactNode {
  return (
    <tr>
      <th scope="row">{row.name}</th>
      {row.cells.map(({ product, spec, rank, share }) => (
        <CompareCell key={product.id} spec={spec} rank={rank} share={share} />
      ))}
    </tr>
  );
}

function CompareCell({
  spec,
  rank,
  share,
}: {
  spec: Spec | undefined;
  rank: number | null;
  share: number;
}): ReactNode {
  if (spec === undefined) return <td>–</td>;
  if (spec.value === null) return <td>{spec.text}</td>;
  return (
    <td className={rank !== null && rank <= 3 ? `best best-${rank}` : undefined}>
      <span className="compare-value">{spec.text}</span>
      {rank === null ? null : <span className="compare-rank">#{rank}</span>}
      <span className="compare-bar" style={{ width: `${Math.round(share * 100)}%` }} />
    </td>
  );
}

function rowsOf(products: readonly Product[]): Row[] {
  const names = [...new Set(products.flatMap((product) => product.specs.map((spec) => spec.name)))];
  return names.map((name) => {
    const specs = products.map((product) => product.specs.find((spec) => spec.name === name));
    const values = specs.flatMap((spec) => (spec?.value === null || spec === undefined ? [] : [spec.value]));
    const highest = Math.max(1, ...values);
    const better = specs.find((spec) => spec !== undefined)?.better ?? null;
    const order = [...new Set(values)].sort((a, b) => (better === 'low' ? a - b : b - a));
    return {
      name,
      cells: products.map((product, at) => {
        const spec = specs[at];
        const value = spec?.value ?? null;
        return {
          product,
          spec,
          rank: better === null || value === null ? null : order.indexOf(value) + 1,
          share: value === null ? 0 : value / highest,
        };
      }),
    };
  });
}
