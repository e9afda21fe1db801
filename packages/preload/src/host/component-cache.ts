/**
 * Counts of `@sluice/react`'s component cache in this process, told with a beat if it has changed, and purges of it and of the caches of
 * `@sluice/render`. All copies of a package share them; this package must not know them otherwise.
 */
import { type Purgeable, purgeCaches } from '#host/caches.js';
import type { ToGateway } from '../control/messages.js';

/** Symbol of the cache. The number changes with the shape. */
const cacheKey = Symbol.for('sluice.react.caches.3');

interface Shared {
  readonly cache: Purgeable & {
    readonly statistics: Readonly<
      Record<'hits' | 'misses' | 'evictions' | 'entries' | 'bytes' | 'bytes_max', number>
    >;
  };
}

interface Holder {
  readonly [cacheKey]?: Shared;
}

/** Drops the HTML of components that was made with the tag, or all of it. */
export function purgeParts(tag: string | undefined): void {
  (globalThis as Holder)[cacheKey]?.cache.purge(tag);
  purgeCaches(tag);
}

export class ComponentCache {
  #told = '';

  /** Counts that the gateway does not know yet. Nothing until the app has looked for cached HTML. */
  news(): ToGateway | undefined {
    const statistics = (globalThis as Holder)[cacheKey]?.cache.statistics;
    if (statistics === undefined) return undefined;
    const { hits, misses, evictions, entries, bytes, bytes_max } = statistics;
    const said = [hits, misses, evictions, entries, bytes, bytes_max].join();
    if (hits + misses === 0 || said === this.#told) return undefined;
    this.#told = said;
    return { type: 'component-cache', hits, misses, evictions, entries, bytes, bytes_max };
  }
}
