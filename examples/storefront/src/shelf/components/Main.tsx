import type { ReactNode } from 'react';
import styles from './Main.module.css';

export const settings = { rendering: 'static' };

export default function Main({ children }: { children?: ReactNode }): ReactNode {
  return (
    <main id="content" className={styles['main']}>
      {children}
    </main>
  );
}
