import type { ReactNode } from 'react';
import { BuyBox } from './BuyBox.js';
import { SearchBox } from './SearchBox.js';

/** The components that the browser hydrates, each on its own; the rest of a page stays as it was sent. */
export const islands = { search: SearchBox, buy: BuyBox };
export type IslandName = keyof typeof islands;

export function Island({
  name,
  props,
  children,
}: {
  name: IslandName;
  props: object;
  children: ReactNode;
}): ReactNode {
  return (
    <div className="island" data-island={name} data-props={JSON.stringify(props)}>
      {children}
    </div>
  );
}
