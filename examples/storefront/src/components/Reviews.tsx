/** What people say of a product: an island, so that the browser can ask again for what the server did not get. */

import type { ReactNode } from 'react';
import type { Review } from '../catalogue/types.js';
import { useValue } from '../graph/hooks.js';
import { Retry } from './Retry.js';
import { Stars } from './small.js';

export interface ReviewsProps {
  slug: string;
  /** The server did not get them. */
  isFailed: boolean;
}

export function Reviews({ slug, isFailed }: ReviewsProps): ReactNode {
  return (
    <section className="reviews" aria-labelledby="reviews">
      <h2 id="reviews">What people say</h2>
      <Retry
        of={slug}
        label="The reviews cannot be shown just now."
        fallback={isFailed ? <p className="loading">Asking around…</p> : undefined}
      >
        <All slug={slug} />
      </Retry>
    </section>
  );
}

function All({ slug }: { slug: string }): ReactNode {
  const { rating = 0, rating_counts = [], reviews = [] } = useValue(`products["${slug}"].reviews`) ?? {};
  return (
    <>
      <div className="reviews-sum">
        <p className="reviews-rating">
          {rating.toFixed(1)} <Stars rating={rating} />
        </p>
        <ol className="bars">
          {rating_counts.map((count, at) => (
            <li key={at}>
              <span>{at + 1}★</span>
              <meter min={0} max={reviews.length} value={count} aria-label={`${at + 1} stars`} />
              <span>{count}</span>
            </li>
          ))}
        </ol>
      </div>
      <ul className="review-list">
        {reviews.map((review) => (
          <ReviewItem key={review.id} review={review} />
        ))}
      </ul>
    </>
  );
}

function ReviewItem({ review }: { review: Review }): ReactNode {
  return (
    <li className="review">
      <h3>{review.title}</h3>
      <p className="review-by">
        <Stars rating={review.rating} /> {review.author}, <time dateTime={review.date}>{review.date}</time>
        {review.verified ? <span className="badge badge-new">Bought here</span> : null}
      </p>
      <p>{review.body}</p>
      <p className="review-note">
        Bought: {review.bought}
        {review.helpful > 0 ? ` · helped ${review.helpful}` : null}
      </p>
    </li>
  );
}
