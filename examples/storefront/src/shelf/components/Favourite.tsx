import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import styles from './_button.module.css';

export interface FavouriteProps {
  slug: string;
  name: string;
}

export const settings = { hydration: 'idle' };

const keyOf = (slug: string): string => `favourite:${slug}`;

/** Favourites are in the browser alone, so the server's HTML has none. */
export default function Favourite({ slug, name }: FavouriteProps): ReactNode {
  const [isFavourite, setFavourite] = useState(false);
  useEffect(() => setFavourite(localStorage.getItem(keyOf(slug)) !== null), [slug]);
  const toggle = (): void => {
    if (isFavourite) localStorage.removeItem(keyOf(slug));
    else localStorage.setItem(keyOf(slug), '1');
    setFavourite(!isFavourite);
  };
  return (
    <button
      className={styles['button']}
      type="button"
      aria-pressed={isFavourite}
      aria-label={`Favourite: ${name}`}
      onClick={toggle}
    >
      {isFavourite ? '♥' : '♡'}
    </button>
  );
}
