import type { ReactNode } from 'react';
import styles from './Grid.module.css';

export const settings = { rendering: 'static' };

export default function Grid({ children }: { children?: ReactNode }): ReactNode {
  return <section className={styles['grid']}>{children}</section>;
}
