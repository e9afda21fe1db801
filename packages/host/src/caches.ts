/**
 * Caches of HTML that a purge reaches. The preload, which hears of purges, and the copies of `@sluice/render` in the app meet at a
 * symbol. It must not know what is cached.
 */

/** Cache that drops what was made with a tag, or all of it. */
export interface Purgeable {
  /** Returns the number of dropped entries. */
  purge(tag?: string): number;
}

/** The number changes with the shape. */
const CACHES = Symbol.for('sluice.render.caches.1');

/** Held weakly: a cache goes with what owns it. */
type Holder = { [CACHES]?: Set<WeakRef<Purgeable>> };

export function reachedByPurges<Cache extends Purgeable>(cache: Cache): Cache {
  const caches = ((globalThis as Holder)[CACHES] ??= new Set());
  for (const each of caches) if (each.deref() === undefined) caches.delete(each);
  caches.add(new WeakRef(cache));
  return cache;
}

/** Drops from all of them what was made with the tag, or all of it. */
export function purgeCaches(tag: string | undefined): void {
  for (const each of (globalThis as Holder)[CACHES] ?? []) each.deref()?.purge(tag);
}
