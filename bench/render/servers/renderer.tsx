// What a thread of worker-nodes runs: data in, HTML out. `renderToString` is react-dom's cheapest renderer, and nothing here has to wait.
import { renderToString } from 'react-dom/server';
import type { Listing } from '../shop/data';
import { Document } from '../shop/document';

export function render(listing: Listing): string {
  return `<!DOCTYPE html>${renderToString(<Document listing={listing} />)}`;
}
