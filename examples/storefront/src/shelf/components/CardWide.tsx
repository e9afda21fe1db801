import type { ReactNode } from 'react';
import { ProductArt } from '../../components/ProductArt.js';
import { Price } from '../../components/small.js';
import { cardSettings, type CardProps } from './_card.js';
import styles from './CardWide.module.css';

export const settings = cardSettings;

/** The arm `wide` of the experiment `card-layout`: picture beside the text, and the summary in place of the stars. */
export default function CardWide({ item, children }: CardProps): ReactNode {
  return (
    <article className={styles['card']}>
      <ProductArt product={item} />
      <div>
        <h2 className={styles['name']}>
          <a href={`/shelf/${item.slug}`}>{item.name}</a>
        </h2>
        <p>{item.summary}</p>
        <Price product={item} />
        {children}
      </div>
    </article>
  );
}
