/**
 * Caches of HTML, as purges and pages see them. The packages meet at symbols. Through these the preload finds the caches of
 * `@sluice/render`, and a cache the page that is being made, with its path and tags. It must not know what is cached.
 */

/** Cache that drops what was made with a tag, or all of it. */
export interface Purgeable {
  /** Returns the number of dropped entries. */
  purge(tag?: string): number;
}

/** Numbers of symbols change with the shape of what is there. */
const CACHES = Symbol.for('sluice.render.caches.1');
/** `@sluice/react` looks for it as well. */
const STORAGE = Symbol.for('sluice.react.tags.1');

/** Caches are held weakly: one goes with what owns it. */
type Holder = { [CACHES]?: Set<WeakRef<Purgeable>>; [STORAGE]?: TagStorage };

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

/*
 * Tags of the HTML that is made: those of `<Cached>` of `@sluice/react` within it, and those that a component's `cacheTags` give. They go
 * to what gathers them around it: the page that a worker of Sluice makes, or a collector of the app. The page says its path.
 */

/** Gatherer of tags. */
export interface Gatherer {
  add(tag: string): unknown;
  /** Paths of the pages that are made with it; undefined where they are not known. */
  paths?(): readonly string[] | undefined;
  /** Takes note that the HTML depends on more than its key names, such as data of one visitor: it must not be kept. */
  refuse?(): void;
}

/** Used part of an `AsyncLocalStorage`: the one that the preload or `@sluice/react` has put there. */
export interface TagStorage {
  run<Result>(tags: Gatherer, run: () => Result): Result;
  getStore(): Gatherer | undefined;
}

export function tagStorage(): TagStorage | undefined {
  return (globalThis as Holder)[STORAGE];
}

/** Puts a storage there, unless there is one. */
export function offerTagStorage(storage: TagStorage): void {
  (globalThis as Holder)[STORAGE] ??= storage;
}

/** Gatherer that passes tags on to the one around it, if any. */
export function within(tags: Gatherer, around: Gatherer | undefined): Gatherer {
  return {
    add: (tag) => {
      tags.add(tag);
      around?.add(tag);
    },
    paths: () => around?.paths?.(),
    refuse: () => {
      tags.refuse?.();
      around?.refuse?.();
    },
  };
}

/** Paths of the pages that are being made by what runs; undefined where they are not known. */
export function currentPaths(): readonly string[] | undefined {
  return tagStorage()?.getStore()?.paths?.();
}

/*
 * A purge of pages is a tag for a cache: it outdates what was made before it, for pages at its path. Other pages use that further, so that
 * a purge of one page costs the others nothing. Paths count without host and query, so that a purge may mean more here than it says,
 * never less.
 */

const URL_TAG = 'sluice:url:';
const PREFIX_TAG = 'sluice:prefix:';
/** Paths and prefixes that are remembered. One more, and what is cached goes. */
const PATHS_MAX = 1000;
/** A page is compared with each. */
const PREFIXES_MAX = 100;

/** Returns the tag for caches of a purge by URL or prefix, as the gateway's admin address makes it, too; undefined for another purge. */
export function pageTag({ url, prefix }: { url?: string; prefix?: string }): string | undefined {
  if (url !== undefined) return URL_TAG + url;
  return prefix === undefined ? undefined : PREFIX_TAG + prefix;
}

/** Returns the path of a URL or target, decoded; undefined where its codes are of no text. */
export function pathOf(url: string): string | undefined {
  const [path = ''] = url.replace(/^https?:\/\/[^/?# ]*/i, '').split(/[?# ]/, 1);
  if (!path.startsWith('/')) return '/';
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

/** A prefix may end within the code of a letter. */
function prefixOf(prefix: string): string {
  return pathOf(prefix) ?? pathOf(prefix.split('%', 1)[0] ?? '') ?? '/';
}

/** Purges of pages that one cache has heard of, by their numbers, which grow. */
export class PagePurges {
  readonly #paths = new Map<string, number>();
  readonly #prefixes = new Map<string, number>();
  /** Number of the latest; 0 for none. */
  latest = 0;

  /** Whether purges with the tag mean pages. */
  means(tag: string): boolean {
    return tag.startsWith(URL_TAG) || tag.startsWith(PREFIX_TAG);
  }

  /** False where there is no room: all are forgotten then, and what is cached must go. */
  add(tag: string, number: number): boolean {
    const isUrl = tag.startsWith(URL_TAG);
    const path = isUrl ? pathOf(tag.slice(URL_TAG.length)) : undefined;
    if (path !== undefined) this.#paths.set(path, number);
    // A URL whose codes are of no text may mean any page.
    else this.#prefixes.set(isUrl ? '/' : prefixOf(tag.slice(PREFIX_TAG.length)), number);
    this.latest = number;
    if (this.#paths.size <= PATHS_MAX && this.#prefixes.size <= PREFIXES_MAX) return true;
    this.clear();
    return false;
  }

  clear(): void {
    this.#paths.clear();
    this.#prefixes.clear();
    this.latest = 0;
  }

  /** Returns the number of the latest that means one of these paths, or of the latest of all where the paths are not known. */
  latestOf(paths: readonly string[] | undefined): number {
    if (paths === undefined) return this.latest;
    let latest = 0;
    for (const path of paths) {
      latest = Math.max(latest, this.#paths.get(path) ?? 0);
      for (const [prefix, number] of this.#prefixes)
        if (number > latest && path.startsWith(prefix)) latest = number;
    }
    return latest;
  }
}
