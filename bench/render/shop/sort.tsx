'use client';

import { useState } from 'react';
import type { Listing } from './data';
import { useReady } from './ready';

export default function Sort({ count, chosen, orders }: Listing['sort']) {
  const [order, setOrder] = useState(chosen);
  useReady('Sort');
  return (
    <div className="sort">
      <p>
        <b>{count}</b> products
      </p>
      <label>
        Sorted by
        <select value={order} onChange={(event) => setOrder(event.target.value)}>
          {orders.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
