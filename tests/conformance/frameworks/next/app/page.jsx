import { connection } from 'next/server';
import Counter from './counter';

export default async function Home() {
  await connection();
  return (
    <main>
      <h1>Hello from next</h1>
      <p>{new Date().toISOString()}</p>
      <Counter />
    </main>
  );
}
