export const dynamic = 'force-dynamic';
export default async function Page() {
  return (
    <main>
      <h1>App</h1>
      {Array.from({ length: 20 }, (_, i) => (
        <p key={i} title={`"${i}"`}>
          {i} &amp; {'<x>'}
        </p>
      ))}
    </main>
  );
}
