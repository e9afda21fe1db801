/** A page of a listing with the links to the others: an island whose later pages come by the graph. */

import { useEffect, useRef, useState } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { useGraph } from '../graph/hooks.js';
import type { Card } from '../graph/schema.js';
import { Retry } from './Retry.js';
import { ProductGrid } from './ProductCard.js';

export interface ResultsProps {
  /** Address of the first page, by which the graph knows the listing. */
  address: string;
  label: string;
  page: number;
  pages: number;
  per_page: number;
  /** Words that were searched for, which the cards have marked. */
  words: readonly string[];
  /** The island starts at another page than the server has sent. */
  isTurned?: boolean;
}

export function Results(props: ResultsProps): ReactNode {
  const [{ page, isTurned = false }, setShown] = useState<Pick<ResultsProps, 'page' | 'isTurned'>>(props);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = (): void => setShown({ page: pageIn(location.search), isTurned: true });
    window.addEventListener('popstate', show);
    return () => window.removeEventListener('popstate', show);
  }, []);

  function turn(event: MouseEvent<HTMLDivElement>): void {
    const next = pageClicked(event.nativeEvent);
    if (next === undefined) return;
    event.preventDefault();
    history.pushState(null, '', hrefOfPage(props.address, next));
    setShown({ page: next, isTurned: true });
    top.current?.scrollIntoView();
  }

  return (
    <div ref={top} onClick={turn}>
      <Retry
        of={page}
        label="This page cannot be shown just now."
        fallback={isTurned ? <p className="loading">Looking on the shelves…</p> : undefined}
      >
        <PageByGraph {...props} page={page} />
      </Retry>
      <Pagination {...props} page={page} />
    </div>
  );
}

/** The same for a page whose products are there already. */
export function ResultsOf({ products, ...props }: ResultsProps & { products: readonly Card[] }): ReactNode {
  return (
    <div>
      <ProductGrid products={products} words={props.words} label={props.label} />
      <Pagination {...props} />
    </div>
  );
}

function PageByGraph({ address, page, per_page, words, label }: ResultsProps): ReactNode {
  const from = (page - 1) * per_page;
  const found = useGraph(`listings["${address}"][${from}..${from + per_page - 1}].card`)?.listings?.[address];
  const products = Object.values(found ?? {}).flatMap((place) => place?.card ?? []);
  return <ProductGrid products={products} words={words} label={label} />;
}

/** Number of the page that a click asks for, where the browser would show it in the same window. */
export function pageClicked(event: globalThis.MouseEvent): number | undefined {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.closest('.pages') === null) return undefined;
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return undefined;
  return pageIn(link.search);
}

function pageIn(query: string): number {
  return Number(new URLSearchParams(query).get('page') ?? 1);
}

function hrefOfPage(address: string, page: number): string {
  if (page === 1) return address;
  return `${address}${address.includes('?') ? '&' : '?'}page=${page}`;
}

/** Links to the pages of the listing at an address. */
function Pagination({ address, page, pages }: Pick<ResultsProps, 'address' | 'page' | 'pages'>): ReactNode {
  if (pages === 1) return null;
  const numbers = Array.from({ length: pages }, (_, at) => at + 1).filter(
    (number) => number === 1 || number === pages || Math.abs(number - page) <= 2,
  );
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 ? (
        <a rel="prev" href={hrefOfPage(address, page - 1)}>
          ‹ Previous
        </a>
      ) : null}
      {numbers.map((number) =>
        number === page ? (
          <span key={number} aria-current="page">
            {number}
          </span>
        ) : (
          <a key={number} href={hrefOfPage(address, number)}>
            <span className="visually-hidden">Page </span>
            {number}
          </a>
        ),
      )}
      {page < pages ? (
        <a rel="next" href={hrefOfPage(address, page + 1)}>
          Next ›
        </a>
      ) : null}
    </nav>
  );
}
