import { notFound } from 'next/navigation';
import { find } from '../../catalog.js';

export default async function Product({ params }) {
  const { slug } = await params;
  const product = await find(slug);
  if (product === undefined) notFound();
  return (
    <main>
      <h1>{product.name}</h1>
      <p>€ {product.price}</p>
    </main>
  );
}
