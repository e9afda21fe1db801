import { connection } from 'next/server';
import { products } from '../../data';
import Card from './card';

const CARDS = 400;

export default async function Catalogue({ params }) {
  await connection();
  const { id } = await params;
  const all = await products(id, CARDS);
  return (
    <main>
      <h1>Catalogue {id}</h1>
      <ul>
        {all.map((product) => (
          <Card key={product.id} product={product} />
        ))}
      </ul>
    </main>
  );
}
