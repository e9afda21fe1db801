import { connection } from 'next/server';

export default async function Product({ params }) {
  await connection();
  const { slug } = await params;
  return <h1>{slug}</h1>;
}
