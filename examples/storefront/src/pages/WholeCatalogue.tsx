import type { ReactNode } from 'react';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { ProductArt } from '../components/ProductArt.js';
import { Breadcrumbs, Price, Stars, Stock, Swatches } from '../components/small.js';
import { sorted } from '../shop/filters.js';

export interface WholeCatalogueProps {
  site: Site;
  catalogue: Catalogue;
  pictures: boolean;
}

/** Every product of the shop in one long page, by category and name: the heaviest page there is. */
export function WholeCatalogue({ site, catalogue, pictures }: WholeCatalogueProps): ReactNode {
  return (
    <Layout site={site} title="The whole catalogue">
      <Breadcrumbs crumbs={[{ name: 'The whole catalogue' }]} />
      <h1>The whole catalogue</h1>
      <p>
        <a href={pictures ? '/catalogue' : '/catalogue?pictures=1'}>
          {pictures ? 'Without pictures' : 'With pictures'}
        </a>
      </p>
      <ul className="chips" aria-label="Jump to">
        {catalogue.categories.map((category) => (
          <li key={category.slug}>
            <a className="chip" href={`#${category.slug}`}>
              {category.name}
            </a>
          </li>
        ))}
      </ul>
      {catalogue.categories.map((category) => (
        <section key={category.slug} id={category.slug}>
          <h2>{category.name}</h2>
          <table className="rows">
            <thead>
              <tr>
                {pictures ? <td /> : null}
                <th scope="col">Name</th>
                <th scope="col">Maker</th>
                <th scope="col">Material</th>
                <th scope="col">Colours</th>
                <th scope="col">Rating</th>
                <th scope="col">Price</th>
                <th scope="col">Stock</th>
              </tr>
            </thead>
            <tbody>
              {sorted(catalogue.inCategory(category), 'name').map((product) => (
                <CatalogueRow key={product.id} product={product} pictures={pictures} />
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </Layout>
  );
}

function CatalogueRow({ product, pictures }: { product: Product; pictures: boolean }): ReactNode {
  return (
    <tr>
      {pictures ? (
        <td>
          <ProductArt product={product} />
        </td>
      ) : null}
      <th scope="row">
        <a href={`/p/${product.slug}`}>{product.name}</a>
        <small>{product.summary}</small>
      </th>
      <td>
        <a href={`/products?maker=${product.maker.slug}`}>{product.maker.name}</a>
      </td>
      <td>{product.material.name}</td>
      <td>
        <Swatches colours={product.colours} />
      </td>
      <td>
        <Stars rating={product.rating} count={product.reviews.length} />
      </td>
      <td>
        <Price product={product} />
      </td>
      <td>
        <Stock stock={product.stock} />
      </td>
    </tr>
  );
}
