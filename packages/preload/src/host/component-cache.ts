/**
 * Counts of `@sluice/react`'s component cache in this process, told with a beat if it has changed, and purges of it. All copies of that
 * package share one cache; this package must not know it otherwise.
 */
import type { ToGateway } from '../control/messages.js';

/** Symbol of the cache. The number changes with the shape. */
const cacheKey = Symbol.for('sluice.react.caches.3');

interface Shared {
  readonly cache: {
    purge(tag?: string): number;
    readonly statistics: Readonly<
      Record<'hits' | 'misses' | 'evictions' | 'entries' | 'bytes' | 'bytes_max', number>
    >;
  };
}

/** Drops the HTML that was made with the tag, or all of it. */
export function purgeParts(tag: string | undefined): void {
  (globalThis as { readonly [cacheKey]?: Shared })[cacheKey]?.cache.purge(tag);
}

export class ComponentCache {
  #told = '';

  /** Counts that the gateway does not know yet. Nothing until the app has looked for cached HTML. */
  news(): ToGateway | undefined {
    const statistics = (globalThis as { readonly [cacheKey]?: Shared })[cacheKey]?.cache.statistics;
    if (statistics === undefined) return undefined;
    const { hits, misses, evictions, entries, bytes, bytes_max } = statistics;
    const said = [hits, misses, evictions, entries, bytes, bytes_max].join();
    if (hits + misses === 0 || said === this.#told) return undefined;
    this.#told = said;
    return { type: 'component-cache', hits, misses, evictions, entries, bytes, bytes_max };
  }
}
