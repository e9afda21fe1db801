import { connection } from 'next/server';
import { article } from '../../data';

export default async function Article({ params }) {
  await connection();
  const { id, title, paragraphs } = await article((await params).id);
  return (
    <main>
      <h1>{title}</h1>
      {paragraphs.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <footer>{id}</footer>
    </main>
  );
}
