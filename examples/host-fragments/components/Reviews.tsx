export interface ReviewsProps {
  reviews: { by: string; stars: number; text: string }[];
}

/** Throws where there is no list. */
export default function Reviews({ reviews }: ReviewsProps) {
  return (
    <div>
      <h2>{reviews.length} reviews</h2>
      <ul>
        {reviews.map(({ by, stars, text }) => (
          <li key={by}>
            {'★'.repeat(stars)} {text} — {by}
          </li>
        ))}
      </ul>
    </div>
  );
}
