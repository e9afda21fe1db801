import type { ReactNode } from 'react';
import { ProductArt } from '../../components/ProductArt.js';
import { Price, Stars } from '../../components/small.js';
import type { Item } from '../items.js';
import styles from './Product.module.css';

export interface ProductProps {
  item: Item;
  description: readonly string[];
  children?: ReactNode;
}

export const settings = { rendering: 'static' };

export default function Product({ item, description, children }: ProductProps): ReactNode {
  return (
    <article className={styles['product']}>
      <ProductArt product={item} />
      <div>
        <h1>{item.name}</h1>
        <p>by {item.maker}</p>
        <Stars rating={item.rating} count={item.reviews} />
        <Price product={item} />
        {children}
        {description.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </div>
    </article>
  );
}
