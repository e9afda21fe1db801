import { useState } from 'react';
import type { ReactNode } from 'react';
import { Stars } from '../../components/small.js';
import styles from './_button.module.css';

export interface ReviewsProps {
  reviews: readonly { id: string; author: string; rating: number; title: string; body: string }[];
}

export const settings = {
  hydration: 'visible',
  placeholder: '<h2>Reviews</h2><p>They are on their way.</p>',
};

const first = 2;

export default function Reviews({ reviews }: ReviewsProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  return (
    <section>
      <h2>Reviews</h2>
      {reviews.slice(0, isWhole ? undefined : first).map(({ id, author, rating, title, body }) => (
        <article key={id}>
          <h3>{title}</h3>
          <Stars rating={rating} />
          <p>
            {body} — {author}
          </p>
        </article>
      ))}
      {isWhole || reviews.length <= first ? null : (
        <button className={styles['button']} type="button" onClick={() => setWhole(true)}>
          Show all {reviews.length} reviews
        </button>
      )}
    </section>
  );
}
