import Link from 'next/link';
import { products } from './catalog.js';

export const dynamic = 'force-dynamic';

export default function Home() {
  return (
    <main>
      <h1>Tables</h1>
      <ul>
        {products.map(({ slug, name, price }) => (
          <li key={slug}>
            <Link href={`/products/${slug}`}>{name}</Link>, € {price}
          </li>
        ))}
      </ul>
    </main>
  );
}
