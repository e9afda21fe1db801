/**
 * Tags of the HTML that is made: those of `<Cached>` of `@sluice/react` within it, and those that a component's `cacheTags` give. They go
 * to what gathers them around it: the page that a worker of Sluice makes, or a collector of the app. HTML from the cache has them too.
 * It must not know what a purge is.
 */

/** Gatherer of tags. */
interface Gatherer {
  add(tag: string): unknown;
}

/** Used part of an `AsyncLocalStorage`: the one that the preload or `@sluice/react` has put there. */
interface Storage {
  run<Result>(tags: Gatherer, run: () => Result): Result;
  getStore(): Gatherer | undefined;
}

const STORAGE = Symbol.for('sluice.react.tags.1');

function storage(): Storage | undefined {
  return (globalThis as { readonly [STORAGE]?: Storage })[STORAGE];
}

/** Calls `run`, and adds the tags of all that is made in it to `tags`, also later on its behalf. Those around it get them as well. */
export function gatherTags<Result>(tags: Set<string>, run: () => Result): Result {
  const found = storage();
  if (found === undefined) return run();
  const around = found.getStore();
  const both: Gatherer = {
    add: (tag) => {
      tags.add(tag);
      around?.add(tag);
    },
  };
  return found.run(both, run);
}

/** Adds tags to those that are gathered around this. */
export function tellTags(tags: Iterable<string>): void {
  const gatherer = storage()?.getStore();
  if (gatherer !== undefined) for (const tag of tags) gatherer.add(tag);
}
