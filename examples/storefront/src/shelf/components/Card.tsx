import type { ReactNode } from 'react';
import { ProductArt } from '../../components/ProductArt.js';
import { Price, Stars } from '../../components/small.js';
import { cardSettings, type CardProps } from './_card.js';
import styles from './Card.module.css';

export const settings = cardSettings;

export default function Card({ item, children }: CardProps): ReactNode {
  return (
    <article className={styles['card']}>
      <a href={`/shelf/${item.slug}`}>
        <ProductArt product={item} />
        <h2 className={styles['name']}>{item.name}</h2>
      </a>
      <p className={styles['maker']}>{item.maker.name}</p>
      <Stars rating={item.rating} count={item.reviews.length} />
      <Price product={item} />
      {children}
    </article>
  );
}
