// What visitors of `examples/storefront` ask for. The paths are read from its own pages, so they fit whatever it sells.
import fs from 'node:fs';
import path from 'node:path';
import { repositoryDir } from '../../tests/support/sluice.ts';
import type { Route } from './load.ts';

export const storefrontEntry = path.join(repositoryDir, 'examples/storefront/dist/server.js');

const TERMS = ['lamp', 'oak', 'wool blanket', 'blue', 'kitchen knife', 'chair', 'linen', 'small'];
const PAGES_PER_CLASS_MAX = 60;

/** Share of each class of page, in percent; the heavy ones are rare, as in a shop. */
const SHARES: Record<string, number> = {
  product: 42,
  category: 20,
  suggest: 12,
  home: 10,
  search: 8,
  cart: 5,
  compare: 2,
  'for-you': 1,
};

/** Reads the shop's pages from a server at `target` and makes the visitors' mix of them. */
export async function storefrontRoutes(target: string): Promise<Route[]> {
  const pages = await Promise.all(
    ['/', '/products', '/products?page=2', '/products?page=3'].map(async (page) => {
      const answer = await fetch(`http://${target}${page}`);
      if (answer.status !== 200) throw new Error(`the storefront answered ${page} with ${answer.status}`);
      return answer.text();
    }),
  );
  const links = (prefix: string) => {
    const found = pages.flatMap((html) =>
      [...html.matchAll(/href="([^"?#]+)"/g)].map((match) => match[1] ?? ''),
    );
    const kept = [...new Set(found)].filter((href) => href.startsWith(prefix)).slice(0, PAGES_PER_CLASS_MAX);
    if (kept.length === 0) throw new Error(`the storefront's pages have no link to ${prefix}`);
    return kept;
  };
  const paths: Record<string, string[]> = {
    product: links('/p/'),
    category: links('/c/'),
    suggest: TERMS.map((term) => `/api/suggest?q=${encodeURIComponent(term.slice(0, 3))}`),
    home: ['/'],
    search: TERMS.map((term) => `/search?q=${encodeURIComponent(term)}`),
    cart: ['/cart'],
    compare: links('/compare/'),
    'for-you': ['/for-you'],
  };
  return Object.entries(SHARES).flatMap(([name, share]) => {
    const all = paths[name] ?? [];
    return all.map((each): Route => ({ class: name, path: each, weight: share / all.length }));
  });
}

export function storefrontIsBuilt(): boolean {
  return fs.existsSync(storefrontEntry);
}
