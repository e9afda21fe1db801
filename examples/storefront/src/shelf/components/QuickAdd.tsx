import { httpSource } from '@sluice/graph/browser';
import { useState } from 'react';
import type { ReactNode, SubmitEvent } from 'react';
import styles from './_button.module.css';

export interface QuickAddProps {
  sku: string;
  name: string;
}

export const settings = { hydration: 'visible' };

const shop = httpSource('/model.json');
const labels = { idle: 'Add to cart', sending: 'Adding', added: 'In the cart', failed: 'Try again' };

/** Puts one into the cart. Without a script, or before it is there, the browser sends the form and shows the cart. */
export default function QuickAdd({ sku, name }: QuickAddProps): ReactNode {
  const [state, setState] = useState<keyof typeof labels>('idle');
  const add = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setState('sending');
    post(sku).then(
      () => setState('added'),
      () => setState('failed'),
    );
  };
  return (
    <form method="post" action="/cart" onSubmit={add}>
      <input type="hidden" name="sku" value={sku} />
      <button className={styles['button']} type="submit" disabled={state === 'sending'}>
        {labels[state]}
        <span className="visually-hidden">: {name}</span>
      </button>
    </form>
  );
}

async function post(sku: string): Promise<void> {
  await shop.call(['cart', 'add'], [sku, 1], [], []);
}
