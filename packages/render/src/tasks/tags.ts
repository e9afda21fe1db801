/**
 * Tags of the HTML that is made go to what gathers them around it; HTML from the cache has them too. It must not know what a purge is.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Gatherer, offerTagStorage, type TagStorage, tagStorage, within } from '#host/caches.js';

/** Tags of HTML that is made, and whether it may be kept. */
export class Gathered implements Gatherer {
  readonly tags: Set<string>;
  isRefused = false;

  constructor(tags: Iterable<string>) {
    this.tags = new Set(tags);
  }

  add(tag: string): void {
    this.tags.add(tag);
  }

  refuse(): void {
    this.isRefused = true;
  }
}

/** Calls `run`, and adds the tags of all that is made in it to `tags`, also later on its behalf. Those around it get them as well. */
export function gatherTags<Result>(tags: Gatherer, run: () => Result): Result {
  const storage = tagStorage() ?? offeredStorage();
  return storage.run(within(tags, storage.getStore()), run);
}

/** Storage of this package, in a process in which nobody else has one: what is rendered must be able to refuse. */
function offeredStorage(): TagStorage {
  const storage = new AsyncLocalStorage<Gatherer>();
  offerTagStorage(storage);
  return storage;
}

/** Adds tags to those that are gathered around this. */
export function tellTags(tags: Iterable<string>): void {
  const gatherer = tagStorage()?.getStore();
  if (gatherer !== undefined) for (const tag of tags) gatherer.add(tag);
}
