import type { ReactNode } from 'react';
import styles from './Footer.module.css';

export const settings = { rendering: 'static' };

export default function Footer(): ReactNode {
  return (
    <footer className={styles['footer']}>
      An invented shop: nothing here is for sale, and no maker here exists.
    </footer>
  );
}
