/**
 * Purges of pages, as caches of what pages are made of see them. Such a purge is a tag for them: it outdates what was made before it,
 * for pages at its path. Other pages use that further, so that a purge of one page costs the others nothing. Paths count without host
 * and query, so that a purge may mean more here than it says, never less. It must not know what is cached.
 */

const URL_TAG = 'sluice:url:';
const PREFIX_TAG = 'sluice:prefix:';
/** Paths and prefixes that are remembered. One more, and what is cached goes. */
const PATHS_MAX = 1000;
/** A page is compared with each. */
const PREFIXES_MAX = 100;

/** Returns the tag for caches of a purge by URL or prefix; undefined for another purge. */
export function pageTag({ url, prefix }: { url?: string; prefix?: string }): string | undefined {
  if (url !== undefined) return pathOf(url) === undefined ? `${PREFIX_TAG}/` : `${URL_TAG}${pathOf(url)}`;
  return prefix === undefined ? undefined : `${PREFIX_TAG}${prefixOf(prefix)}`;
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
    if (tag.startsWith(URL_TAG)) this.#paths.set(tag.slice(URL_TAG.length), number);
    else this.#prefixes.set(tag.slice(PREFIX_TAG.length), number);
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
