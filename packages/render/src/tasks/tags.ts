/**
 * Tags of the HTML that is made go to what gathers them around it; HTML from the cache has them too. It must not know what a purge is.
 */
import { type Gatherer, tagStorage, within } from '#host/caches.js';

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
  const storage = tagStorage();
  return storage === undefined ? run() : storage.run(within(tags, storage.getStore()), run);
}

/** Adds tags to those that are gathered around this. */
export function tellTags(tags: Iterable<string>): void {
  const gatherer = tagStorage()?.getStore();
  if (gatherer !== undefined) for (const tag of tags) gatherer.add(tag);
}
