/**
 * Visitors for the shop, so that `sluice top` and the dashboard have something to show: they look around, search, fill carts, order now
 * and then, and some leave before the page is there. It shows nothing about speed: it thinks between two pages, as people do.
 *
 *   tsx scripts/demo-load.ts [--url http://localhost:3000] [--visitors 30] [--visits 0]
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const usage =
  'tsx scripts/demo-load.ts [--url http://localhost:3000] [--visitors 1 to 500] [--visits 0 for no end]';
const told_ms = 5_000;
const think_ms = { min: 50, max: 1_500 };

const options = read();
const began = performance.now();
const tally = { pages: 0, failed: 0, left: 0, orders: 0, visits: 0 };
const times: number[] = [];
let stopped = false;
const stop = new AbortController();
// Each visitor listens to it.
setMaxListeners(0, stop.signal);

process.once('SIGINT', () => {
  stopped = true;
  stop.abort();
});

const shop = await fetch(options.url).catch(() => undefined);
if (shop?.ok !== true) {
  console.error(
    `Nothing answers at ${options.url}: \`make start\` runs the shop, --url names another address.`,
  );
  process.exit(1);
}
const home = await shop.text();
const categories = links(home, '/c/');
if (categories.length === 0) {
  console.error(`${options.url} is not the example shop: its page links to no category.`);
  process.exit(1);
}
console.log(
  `${options.visitors} visitors at ${options.url}. Ctrl-C ends them. Try \`npx sluice top\` in another terminal.`,
);
const teller = setInterval(tell, told_ms);
await Promise.all(Array.from({ length: options.visitors }, comeAndGo));
clearInterval(teller);
tell();

/** One visitor after the other, in one place. */
async function comeAndGo(): Promise<void> {
  while (!stopped && (options.visits === 0 || tally.visits < options.visits)) {
    tally.visits += 1;
    await visit();
  }
}

async function visit(): Promise<void> {
  let cookie = '';
  const open = async (path: string, form?: Record<string, string>): Promise<string> => {
    if (options.visits === 0) await think();
    if (stopped) return '';
    // One in fifty has lost patience before the page is there.
    const leaves = form === undefined && chance(0.02);
    const start = performance.now();
    try {
      const answer = await fetch(options.url + path, {
        redirect: 'manual',
        headers: { accept: 'text/html', ...(cookie !== '' && { cookie }) },
        signal: leaves ? AbortSignal.timeout(5) : stop.signal,
        ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
      });
      cookie = answer.headers
        .getSetCookie()
        .map((set) => set.split(';')[0] ?? '')
        .concat(cookie)
        .filter(Boolean)
        .join('; ');
      const text = await answer.text();
      tally.pages += 1;
      if (answer.status >= 500) tally.failed += 1;
      times.push(performance.now() - start);
      if (path === '/checkout' && answer.status === 303) tally.orders += 1;
      return text;
    } catch {
      if (leaves) tally.left += 1;
      else if (!stopped) tally.failed += 1;
      return '';
    }
  };

  await open('/');
  for (let looked = 0; looked < 4 && !stopped; looked += 1) {
    const listing = chance(0.3) ? await search(open) : await open(pick(categories) ?? '/products');
    const product = pick(links(listing, '/p/'));
    if (product === undefined) continue;
    await open(product);
    if (!chance(0.35)) continue;
    const [, sku] = /<option value="([^"]+)"/.exec(listing) ?? [];
    if (sku !== undefined) await open('/cart', { sku, quantity: '1' });
    await open('/cart');
  }
  if (chance(0.05)) await open('/explore');
  if (chance(0.1)) await open('/for-you');
  if (cookie.includes('cart=') && chance(0.4)) {
    await open('/checkout');
    await open('/checkout', {
      name: 'Demo Visitor',
      email: 'visitor@example.org',
      street: 'Quay 1',
      postcode: '12345',
      town: 'Wend',
    });
  }
}

/** Types a word letter by letter, as the search field sends it. */
async function search(open: (path: string) => Promise<string>): Promise<string> {
  const word = pick(['lamp', 'wool', 'kitchen', 'oak', 'brass', 'linen']) ?? 'lamp';
  for (let length = 2; length < word.length; length += 1)
    await open(`/api/suggest?q=${word.slice(0, length)}`);
  return open(`/search?q=${word}`);
}

function links(html: string, prefix: string): string[] {
  return [...new Set([...html.matchAll(/href="([^"?#]+)"/g)].map(([, href = '']) => href))].filter((href) =>
    href.startsWith(prefix),
  );
}

async function think(): Promise<void> {
  const ms = think_ms.min + Math.random() * (think_ms.max - think_ms.min);
  await sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
}

function chance(share: number): boolean {
  return Math.random() < share;
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)];
}

function tell(): void {
  const recent = times.splice(0).sort((a, b) => a - b);
  const at = (share: number): string => (recent[Math.floor(recent.length * share)] ?? 0).toFixed(0);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(
    `${seconds.padStart(5)} s  ${tally.pages} pages, ${tally.orders} orders, ${tally.left} left early, ${tally.failed} failed; lately p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
  );
}

function read(): { url: string; visitors: number; visits: number } {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: 'string', default: 'http://localhost:3000' },
        visitors: { type: 'string', default: '30' },
        visits: { type: 'string', default: '0' },
      },
    });
    const [visitors, visits] = [Number(values.visitors), Number(values.visits)];
    if (!Number.isInteger(visitors) || visitors < 1 || visitors > 500)
      throw new Error('--visitors takes a number from 1 to 500');
    if (!Number.isInteger(visits) || visits < 0)
      throw new Error('--visits takes a whole number; 0 means no end');
    return { url: new URL(values.url).origin, visitors, visits };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\nusage: ${usage}`);
    process.exit(2);
  }
}
