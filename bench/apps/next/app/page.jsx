import Link from 'next/link';

export default function Home() {
  return (
    <main>
      <Link href="/light/1" prefetch={false}>
        An article
      </Link>
      <Link href="/heavy/1" prefetch={false}>
        The catalogue
      </Link>
    </main>
  );
}
