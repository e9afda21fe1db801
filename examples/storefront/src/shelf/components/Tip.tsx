import type { ReactNode } from 'react';
import styles from './Tip.module.css';

export const settings = {
  hydration: 'idle',
  placeholder: `<p class="${styles['tip']}">A tip is on its way.</p>`,
};

/** Throws on the server where the page asks for it (`?fail=1`): the browser then renders it in place of the placeholder. */
export default function Tip({ fails }: { fails: boolean }): ReactNode {
  if (fails && typeof document === 'undefined') throw new Error('the tip was asked to fail');
  return <p className={styles['tip']}>Oil a wooden board twice a year, and it outlives its owner.</p>;
}
