import type { ReactNode } from 'react';
import { freeDeliveryFromCents } from '../shop/cart.js';
import type { CartTotals } from '../shop/cart.js';
import { money } from '../shop/money.js';

export function Totals({ totals }: { totals: Omit<CartTotals, 'lines'> }): ReactNode {
  return (
    <dl className="totals">
      <div>
        <dt>Goods</dt>
        <dd>{money(totals.goods_cents)}</dd>
      </div>
      <div>
        <dt>Delivery</dt>
        <dd>{totals.delivery_cents === 0 ? 'Free' : money(totals.delivery_cents)}</dd>
      </div>
      <div className="totals-sum">
        <dt>To pay</dt>
        <dd>{money(totals.total_cents)}</dd>
      </div>
      {totals.delivery_cents === 0 ? null : <p>Delivery is free from {money(freeDeliveryFromCents)}.</p>}
    </dl>
  );
}
