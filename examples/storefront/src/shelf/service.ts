/**
 * The service of suggestions: `node dist/suggestions.js`, on $PORT or 3100. It is deployed apart from the shop, which asks it for
 * HTML by `POST /batch` (docs/guide/fragments.md). It must not know the shop's pages.
 */

import { createFragments, createRegistry, createServer, escapeHtml } from '@sluice/render';
import { createCatalogue } from '../catalogue/catalogue.js';
import { money } from '../shop/money.js';
import { createRecommender } from '../shop/recommend.js';

const count = 4;
const defaultPort = 3100;

const catalogue = createCatalogue();
const recommend = createRecommender(catalogue);

/** Goods like the one that `slug` names. */
async function suggestions({ slug }: { slug?: unknown }): Promise<string> {
  const product = catalogue.product(String(slug));
  if (product === undefined) throw new Error(`no product is called ${String(slug)}`);
  const links = (await recommend(product, count)).map(
    (each) =>
      `<li><a href="/shelf/${each.slug}">${escapeHtml(each.name)}</a> ${escapeHtml(money(each.price_cents))}</li>`,
  );
  return `<section><h2>You may like</h2><ul>${links.join('')}</ul></section>`;
}

const registry = createRegistry();
registry.register('Suggestions', suggestions, { rendering: 'static' });

const server = createServer(createFragments({ registry }).handle);
server.listen(Number(process.env['PORT'] ?? defaultPort), () => {
  const address = server.address();
  console.log(
    `The suggestions listen on ${typeof address === 'object' ? `port ${address?.port ?? ''}` : address}.`,
  );
});

process.once('SIGTERM', () => {
  server.close(() => process.exit(0));
});
