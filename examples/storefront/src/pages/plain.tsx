/** Pages that are mostly text. */

import type { ReactNode } from 'react';
import type { Maker } from '../catalogue/types.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs } from '../components/small.js';

export function About({ site, makers }: { site: Site; makers: readonly Maker[] }): ReactNode {
  return (
    <Layout site={site} title="About us">
      <Breadcrumbs crumbs={[{ name: 'About us' }]} />
      <div className="prose">
        <h1>A shop for things that last</h1>
        <p>
          Tidewick began as one shelf in a boat shed. We sell what we use ourselves, from workshops that we
          can walk through, and we keep a spare of every part.
        </p>
        <h2>How we choose</h2>
        <ul className="ticks">
          <li>We use a thing for a year before we sell it.</li>
          <li>It has to come apart with tools that people own.</li>
          <li>Its maker answers letters.</li>
        </ul>
        <h2>Delivery and returns</h2>
        <p>Parcels leave on working days, in card and paper. You can send anything back within sixty days.</p>
        <h2>Who makes it</h2>
        <dl className="makers">
          {makers.map((maker) => (
            <div key={maker.slug}>
              <dt>
                <a href={`/products?maker=${maker.slug}`}>{maker.name}</a>
              </dt>
              <dd>
                {maker.town}, since {maker.since}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </Layout>
  );
}

export function NotFound({ site }: { site: Site }): ReactNode {
  return (
    <Layout site={site} title="Not found">
      <div className="empty">
        <h1>Washed away</h1>
        <p>There is nothing at this address, or not any more.</p>
        <p>
          <a className="button" href="/products">
            See everything
          </a>
        </p>
      </div>
    </Layout>
  );
}

export function Failure({ site }: { site: Site }): ReactNode {
  return (
    <Layout site={site} title="Something went wrong">
      <div className="empty">
        <h1>That was us</h1>
        <p>Something went wrong on our side. It has been noted; please try again.</p>
      </div>
    </Layout>
  );
}
