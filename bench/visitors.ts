// No page has a byte of another visitor: pages of many visitors at once, with props, caches, a service, arms, errors and aborts mixed by a seed.
//
//   npx tsx bench/visitors.ts [--quick] [--pages N] [--visitors N] [--at-once N] [--seconds N] [--seed N] [--plant none|cache-key|variable|headers]
//
// Each visitor has a secret. Body, headers and report of each page are searched for the secrets of others. `--plant` has the app make a
// mistake that this has to find: its bar is missed then. It ends after `--seconds` at the latest. All of it is one process, without a gateway; `bench/answers.ts` is about the gateway.
import { setImmediate as turn } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { RenderOptions } from '@sluice/render';
import { type Random, randomFrom } from '../tests/support/chance.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, printTable } from './lib/report.ts';
import { startService } from './visitors/service.ts';
import type { Plant, Site } from './visitors/site.ts';
import { type Person, personOf, running, secretsIn } from './visitors/visitors.ts';

// Before React is loaded.
process.env['NODE_ENV'] = 'production';
const { createSite, PLANTS, treeOf } = await import('./visitors/site.ts');

const ABORTED_ONE_IN = 10;
const EXAMPLES_MAX = 5;
const TOLD_EVERY = 100_000;

const options = readOptions({
  runs: 1,
  runsQuick: 1,
  workers: 1,
  words: { plant: [...PLANTS] },
  numbers: {
    pages: [100_000, 3_000],
    visitors: [500, 50],
    'at-once': [16, 16],
    seed: [1, 1],
    seconds: [36_000, 600],
  },
});
const { pages: pages_max = 0, visitors = 0, 'at-once': at_once = 0, seed = 0, seconds = 0 } = options.numbers;
const plant = options.words['plant'] as Plant;
const about = { ...describe("Pages with other visitors' bytes", options), seed, visitors, plant };

/** Counts of what has happened, by name. */
const counts: Record<string, number> = {};
const examples: string[] = [];
const count = (what: string, by = 1): void => {
  counts[what] = (counts[what] ?? 0) + by;
};

const service = await startService();
const site = createSite(service.url, plant);
const random = randomFrom(seed);
let begun = 0;
const begun_ms = performance.now();
await Promise.all(Array.from({ length: at_once }, visit));
const elapsed_s = (performance.now() - begun_ms) / 1_000;
service.close();

const of = (what: string): number => counts[what] ?? 0;
printTable(
  ['what', 'count'],
  Object.entries({ ...counts, 'requests to the service': service.requests() }).toSorted(([left], [right]) =>
    left < right ? -1 : 1,
  ),
);
console.log(`\n${Math.round(of('pages') / elapsed_s)} pages a second`);
for (const example of examples) console.log(`  ${example}`);
const happened = ['aborted', 'box cached', 'box error', 'box rendered', 'arm a', 'arm b', 'with own secret'];
const bars: Bar[] = [
  { what: 'pages', bar: `${pages_max}`, figure: String(of('pages')), met: of('pages') === pages_max },
  {
    what: "pages with other visitors' bytes",
    bar: '0',
    figure: String(of('with secrets of others')),
    met: of('with secrets of others') === 0,
  },
  {
    what: 'kinds that did not happen',
    bar: 'none',
    figure: happened.filter((what) => of(what) === 0).join(', ') || 'none',
    met: happened.every((what) => of(what) > 0),
  },
];
conclude('visitors', options, about, bars, { counts, examples, elapsed_s });

/** One of those who ask for pages, one after the other. */
async function visit(): Promise<void> {
  while (begun < pages_max && performance.now() - begun_ms < seconds * 1_000) {
    begun += 1;
    if (begun % TOLD_EVERY === 0)
      console.log(`${begun} pages, ${of('with secrets of others')} with bytes of others`);
    const person = personOf(random(visitors));
    await running.run(person, () => pageOf(site, person, randomFrom(random(2 ** 31))));
  }
}

async function pageOf(site: Site, person: Person, random: Random): Promise<void> {
  const { secret } = person;
  const leaving = new AbortController();
  const given: RenderOptions = {
    format: random(5) === 0 ? 'json' : 'html',
    delivery: random(2) === 0 ? 'whole' : 'stream',
    visitor: { id: secret, device: 'desktop', cookies: {} },
    signal: leaving.signal,
  };
  const isAborted = random(ABORTED_ONE_IN) === 0;
  if (isAborted) void abortAfter(random(8), leaving);
  site.begin(person);
  let seen = '';
  try {
    const page = await site.pages.render(treeOf(random), () => ({ secret }), given);
    seen = JSON.stringify(page.headers);
    seen += typeof page.body === 'string' ? page.body : await text(page.body);
    const report = await page.report;
    for (const { outcome, error = '' } of report.boxes) {
      count(`box ${outcome}`);
      seen += error;
    }
    const { offer } = report.variants;
    if (offer !== undefined) count(`arm ${offer}`);
  } catch (error) {
    if (!isAborted) throw error;
  }
  count('pages');
  if (isAborted) count('aborted');
  const { own, others } = secretsIn(seen, person);
  if (own > 0) count('with own secret');
  if (others.length === 0) return;
  count('with secrets of others');
  if (examples.length < EXAMPLES_MAX) examples.push(`visitor ${person.id} got ${others.join(', ')}`);
}

/** Leaves after so many turns of the event loop; at once after none. */
async function abortAfter(turns: number, leaving: AbortController): Promise<void> {
  for (let at = 0; at < turns; at += 1) await turn();
  leaving.abort();
}
