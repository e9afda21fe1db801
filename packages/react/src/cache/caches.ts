/**
 * The component cache of the process. An app may have this package several times, by `import`, by `require` or within bundles. All copies
 * share one cache and so one budget, and each purges what any of them has kept.
 */
import { ComponentCache, type CacheEntry, type CacheStatistics } from './component-cache.js';

export interface CacheOptions {
  /** Approximate memory of the cached HTML; 0 keeps none. 32 MiB when not set. */
  readonly bytes_max: number;
}

interface Shared {
  readonly cache: ComponentCache<CacheEntry>;
  copies: number;
}

const BYTES_MAX = 32 * 1024 * 1024;
/** The number changes with the shape of what is shared. */
const sharedKey = Symbol.for('sluice.react.caches.3');

function shared(): Shared {
  const holder = globalThis as { [sharedKey]?: Shared };
  return (holder[sharedKey] ??= { cache: new ComponentCache(BYTES_MAX), copies: 0 });
}

/** The cache, and what the keys of this copy begin with: what another copy has kept, only that one can use. */
export function openCache<Entry extends CacheEntry>(): { cache: ComponentCache<Entry>; copy: string } {
  const all = shared();
  all.copies += 1;
  return { cache: all.cache as unknown as ComponentCache<Entry>, copy: `${all.copies} ` };
}

/** Configures the cache of this process; each worker has its own. */
export function configureCache({ bytes_max }: CacheOptions): void {
  shared().cache.resize(bytes_max);
}

/**
 * Symbol at which the gateway's preload can be asked to purge pages; nothing is there without it. The number changes with the
 * shape.
 */
const purgeKey = Symbol.for('sluice.preload.purge.1');

type PurgePages = (pages: { readonly tag: string } | { readonly all: true }) => Promise<number>;

/**
 * Drops the HTML that was made with the tag, or all of it; returns how many entries of this process. Below Sluice, the other workers drop theirs too,
 * and the gateway the pages with that tag, or all pages: `purge` of `@sluice/preload` does the same and can be waited for.
 */
export function purge(tag?: string): number {
  const count = shared().cache.purge(tag);
  const purgePages = (globalThis as { readonly [purgeKey]?: PurgePages })[purgeKey];
  // It rejects while too many wait; then so many purges are under way that whoever wants to know waits for them.
  purgePages?.(tag === undefined ? { all: true } : { tag }).catch((error: unknown) => console.error(error));
  return count;
}

/** Counts since the process began. */
export function cacheStatistics(): CacheStatistics {
  return shared().cache.statistics;
}
