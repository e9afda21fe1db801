import { Suspense } from 'react';
import { Await } from 'react-router';

export function loader() {
  return { slow: new Promise((resolve) => setTimeout(() => resolve('second part'), 300)) };
}

export default function Stream({ loaderData }) {
  return (
    <main>
      <p>first part</p>
      <Suspense fallback={<p>wait</p>}>
        <Await resolve={loaderData.slow}>{(text) => <p>{text}</p>}</Await>
      </Suspense>
    </main>
  );
}
