import type { ReactNode } from 'react';
import styles from './Header.module.css';

export const settings = { rendering: 'static' };

export default function Header(): ReactNode {
  return (
    <header className={styles['header']}>
      <a className={styles['brand']} href="/shelf">
        Tidewick
      </a>
      <nav aria-label="Your shop">
        <a href="/products">Everything</a>
        <a href="/cart">Cart</a>
      </nav>
    </header>
  );
}
