import type { ReactNode } from 'react';
import { ProductArt } from '../../components/ProductArt.js';
import { Price, Stars } from '../../components/small.js';
import type { Facts } from '../../graph/schema.js';
import styles from './Product.module.css';

export interface ProductProps {
  item: Facts;
  children?: ReactNode;
}

export const settings = { rendering: 'static' };

export default function Product({ item, children }: ProductProps): ReactNode {
  return (
    <article className={styles['product']}>
      <ProductArt product={item} />
      <div>
        <h1>{item.name}</h1>
        <p>by {item.maker.name}</p>
        <Stars rating={item.rating} count={item.reviews.length} />
        <Price product={item} />
        {children}
        {item.description.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </div>
    </article>
  );
}
