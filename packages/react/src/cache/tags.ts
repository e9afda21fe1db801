/** Tags of what a page used, told to the caller of the render: a cache of the page can purge it by them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { TAGS_STORAGE, type TagsStorage } from './cached.js';

/** Gatherer of tags: the set of a collector, or the page that a worker of Sluice makes. */
interface Gatherer {
  add(tag: string): unknown;
}

/**
 * Used part of an `AsyncLocalStorage`. In a worker of Sluice that keeps pages, its preload has put one here, which gathers the tags of
 * pages.
 */
interface Storage {
  run<Result>(tags: Gatherer, run: () => Result): Result;
  getStore(): Gatherer | undefined;
}

/** One for all copies of this package in the process, and for `<Cached>` when react-dom renders it. */
const holder = globalThis as TagsStorage<Storage>;
const storage = (holder[TAGS_STORAGE] ??= new AsyncLocalStorage<Gatherer>());

export interface Tagged<Result> {
  readonly result: Result;
  /** Tags so far; they grow while what `run` started continues: a stream has those of its shell when the shell is ready. */
  readonly tags: ReadonlySet<string>;
}

/** Calls `run` and gathers the tags of all that is rendered in it, also later on its behalf, by this renderer or by react-dom. */
export function collectTags<Result>(run: () => Result): Tagged<Result> {
  const tags = new Set<string>();
  return { result: storage.run(tags, run), tags };
}

export function tellTags(tags: Iterable<string>): void {
  const collected = storage.getStore();
  if (collected !== undefined) for (const tag of tags) collected.add(tag);
}
