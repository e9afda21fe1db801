import type { ReactNode } from 'react';
import { BuyBox } from './BuyBox.js';
import { CartLines } from './CartLines.js';
import { Results } from './Results.js';
import { Reviews } from './Reviews.js';
import { SearchBox } from './SearchBox.js';

/** The components that the browser hydrates, each on its own; the rest of a page stays as it was sent. */
export const islands = {
  search: SearchBox,
  buy: BuyBox,
  cart: CartLines,
  results: Results,
  reviews: Reviews,
};
export type IslandName = keyof typeof islands;

export interface IslandProps {
  name: IslandName;
  props: object;
  /** The page has no data for it: it stays HTML until a visitor clicks on one of its links. */
  isLate?: boolean;
  children: ReactNode;
}

export function Island({ name, props, isLate, children }: IslandProps): ReactNode {
  return (
    <div
      className="island"
      data-island={name}
      data-late={isLate === true ? '' : undefined}
      data-props={JSON.stringify(props)}
    >
      {children}
    </div>
  );
}
