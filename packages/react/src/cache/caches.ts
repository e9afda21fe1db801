/** The component caches of the process: an app may have this package twice, by `import` and by `require`, and purges both by either. */
import { ComponentCache, type CacheEntry, type CacheStatistics } from './component-cache.js';

export interface CacheOptions {
  /** About what the HTML that is kept takes in memory; 0 keeps none. 32 MiB when not set. */
  readonly bytes_max: number;
}

interface Shared {
  bytes_max: number;
  readonly caches: ComponentCache<CacheEntry>[];
}

const BYTES_MAX = 32 * 1024 * 1024;
/** The number changes with the shape of what is shared. */
const sharedKey = Symbol.for('sluice.react.caches.1');

function shared(): Shared {
  const holder = globalThis as { [sharedKey]?: Shared };
  return (holder[sharedKey] ??= { bytes_max: BYTES_MAX, caches: [] });
}

export function createCache<Entry extends CacheEntry>(): ComponentCache<Entry> {
  const { bytes_max, caches } = shared();
  const cache = new ComponentCache<Entry>(bytes_max);
  caches.push(cache);
  return cache;
}

/** For this process; each worker has its own cache. */
export function configureCache({ bytes_max }: CacheOptions): void {
  shared().bytes_max = bytes_max;
  for (const cache of shared().caches) cache.resize(bytes_max);
}

/** Drops the HTML that was made with the tag, or all of it, in this process; returns how many entries. */
export function purge(tag?: string): number {
  return shared().caches.reduce((sum, cache) => sum + cache.purge(tag), 0);
}

/** Since the process began. */
export function cacheStatistics(): CacheStatistics {
  const sum = { entries: 0, bytes: 0, hits: 0, misses: 0 };
  for (const { statistics } of shared().caches) {
    sum.entries += statistics.entries;
    sum.bytes += statistics.bytes;
    sum.hits += statistics.hits;
    sum.misses += statistics.misses;
  }
  return sum;
}
