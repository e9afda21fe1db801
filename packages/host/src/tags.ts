/**
 * Tags of the HTML that is made: those of `<Cached>` of `@sluice/react` within it, and those that a component's `cacheTags` give. They go
 * to what gathers them around it: the page that a worker of Sluice makes, or a collector of the app. The page says its path. It must
 * not know what a purge is.
 */

/** Gatherer of tags. */
export interface Gatherer {
  add(tag: string): unknown;
  /** Paths of the pages that are made with it; undefined where they are not known. */
  paths?(): readonly string[] | undefined;
}

/** Used part of an `AsyncLocalStorage`: the one that the preload or `@sluice/react` has put there. */
export interface TagStorage {
  run<Result>(tags: Gatherer, run: () => Result): Result;
  getStore(): Gatherer | undefined;
}

/** The number changes with the shape. `@sluice/react` looks for it as well. */
const STORAGE = Symbol.for('sluice.react.tags.1');

type Holder = { [STORAGE]?: TagStorage };

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
  };
}

/** Paths of the pages that are being made by what runs; undefined where they are not known. */
export function currentPaths(): readonly string[] | undefined {
  return tagStorage()?.getStore()?.paths?.();
}
