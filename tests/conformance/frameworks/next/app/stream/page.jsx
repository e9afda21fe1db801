import { Suspense } from 'react';
import { connection } from 'next/server';

async function Slow() {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return <p>second part</p>;
}

export default async function Stream() {
  await connection();
  return (
    <main>
      <p>first part</p>
      <Suspense fallback={<p>wait</p>}>
        <Slow />
      </Suspense>
    </main>
  );
}
