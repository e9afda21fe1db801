import type { ReactNode } from 'react';
import { CartLines } from '../components/CartLines.js';
import { Island } from '../components/Island.js';
import { Layout } from '../components/Layout.js';
import type { Site } from '../components/Layout.js';
import { Breadcrumbs } from '../components/small.js';

export function CartPage({ site }: { site: Site }): ReactNode {
  return (
    <Layout site={site} title="Your cart">
      <Breadcrumbs crumbs={[{ name: 'Your cart' }]} />
      <h1>Your cart</h1>
      <Island name="cart" props={{}}>
        <CartLines />
      </Island>
    </Layout>
  );
}
