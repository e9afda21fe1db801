// The page cache beside Varnish (with hitch before it for TLS) and nginx: what a hit costs, how many misses of one page become one
// render, the share of hits where not everything fits, how long hits take while something else goes on, and how often a page is rendered that
// some visitors are answered alone of.
//
//   npx tsx bench/cache.ts [--quick] [--runs N] [--requests N] [--mode all|hits|burst|mix|calm|private] [--only sluice,varnish,nginx]
//
// All caches run at once, each before a Node process of its own with the same app; in every round each gets the same load in turn,
// the others idle. CPU time is that of the processes between the client and the app, from /proc.
import { burstBars, burstRows, measureBursts } from './cache/burst.ts';
import { calmBars, calmRows, measureCalm } from './cache/calm.ts';
import { hitBars, hitRows, measureHits } from './cache/hits.ts';
import { MIX_BYTES, measureMix, mixBars, mixRows } from './cache/mix.ts';
import { measurePrivate, privateBars, privateRows } from './cache/private.ts';
import {
  type Cache,
  makeCertificate,
  startNginxCache,
  startSluiceCache,
  startVarnish,
} from './cache/servers.ts';
import { buildGenerator } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, printTable } from './lib/report.ts';

const SERVERS = { sluice: startSluiceCache, varnish: startVarnish, nginx: startNginxCache };
const HITS_BYTES = 256 * 2 ** 20;

const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: cores,
  words: { mode: ['all', 'hits', 'burst', 'mix', 'calm', 'private'] },
  numbers: {
    requests: [60_000, 5_000],
    mixRequests: [40_000, 4_000],
    seconds: [10, 3],
    privateSeconds: [60, 10],
  },
});
const wanted = (Object.keys(SERVERS) as (keyof typeof SERVERS)[]).filter(
  (name) => options.only.length === 0 || options.only.includes(name),
);
const does = (mode: string): boolean => ['all', mode].includes(options.words['mode'] ?? 'all');
const { requests = 0, mixRequests = 0, seconds = 0, privateSeconds = 0 } = options.numbers;
if (options.words['mode'] !== 'private') buildGenerator();
const peers = wanted.flatMap((name): ('nginx' | 'varnishd' | 'hitch')[] =>
  name === 'sluice' ? [] : name === 'varnish' ? ['varnishd', 'hitch'] : ['nginx'],
);
const about = describe('The page cache and its peers', options, [...peers, 'h2load']);
const certificate = makeCertificate();
const bars: Bar[] = [];
const data: Record<string, unknown> = {};

async function withCaches(bytesMax: number, measure: (caches: Cache[]) => Promise<void>): Promise<void> {
  const caches: Cache[] = [];
  try {
    for (const name of wanted)
      caches.push(await SERVERS[name](certificate, { bytesMax, workers: options.workers }));
    await measure(caches);
  } finally {
    await Promise.all(caches.map(async (cache) => cache.stop()));
  }
}

if (does('hits') || does('burst') || does('calm')) {
  await withCaches(HITS_BYTES, async (caches) => {
    if (does('hits')) {
      const hits = await measureHits(caches, options.runs, requests);
      const columns = ['over', 'bytes', 'cache', 'failures', 'hits/s', 'hits per CPU s', 'CPU µs a hit'];
      printTable(columns, hitRows(hits, caches));
      const names = caches.map(({ name }) => name).filter((name) => name !== 'Sluice');
      bars.push(...hitBars(hits, names));
      data['hits'] = hits;
    }
    if (does('burst')) {
      const bursts = await measureBursts(caches, options.runs);
      const columns = [
        'cache',
        'clients',
        'answered',
        'renders',
        'half after ms',
        'p99 after ms',
        'last after ms',
      ];
      printTable(columns, burstRows(bursts));
      bars.push(...burstBars(bursts));
      data['bursts'] = bursts;
    }
    const own = caches.find(({ name }) => name === 'Sluice');
    if (does('calm') && own !== undefined) {
      const calms = await measureCalm(own, options.runs, seconds);
      printTable(
        ['meanwhile', 'hits/s', 'failures', 'p50 ms', 'p99 ms', 'generator late, p99 ms'],
        calmRows(calms),
      );
      bars.push(...calmBars(calms));
      data['calm'] = calms;
    }
  });
}
if (does('mix')) {
  await withCaches(MIX_BYTES, async (caches) => {
    const mixes = await measureMix(caches, mixRequests);
    printTable(['cache', 'requests', 'hits'], mixRows(mixes));
    bars.push(...mixBars(mixes));
    data['mixes'] = mixes;
  });
}
if (does('private')) {
  await withCaches(HITS_BYTES, async (caches) => {
    const runs = await measurePrivate(caches, privateSeconds);
    printTable(['cache', 'requests', 'of which alone', 'failures', 'renders'], privateRows(runs));
    bars.push(...privateBars(runs));
    data['private'] = runs;
  });
}
conclude('cache', options, about, bars, data);
