/** Storages of the process, which copies of this package and other packages find at symbols. It must not know models. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { GraphPage } from './current.js';

const PAGES = Symbol.for('sluice.graph.pages.1');
/** Place at which `@sluice/render`, `@sluice/react` and the preload gather what HTML is made of, to know when it may be used again. */
const GATHERERS = Symbol.for('sluice.react.tags.1');

interface Gatherer {
  add(tag: string): unknown;
  refuse?(): void;
}

interface Storage {
  run<Result>(gatherer: Gatherer, run: () => Result): Result;
  getStore(): Gatherer | undefined;
}

interface Holder {
  [PAGES]?: AsyncLocalStorage<GraphPage>;
  [GATHERERS]?: Storage;
}

const holder = globalThis as Holder;

/** Pages by what runs for them: one for all copies of this package, each of which may have made the page. */
export const pages = (holder[PAGES] ??= new AsyncLocalStorage<GraphPage>());

/** Makes the storage that caches of HTML look at, if no other package has. */
export function offerGatherers(): void {
  holder[GATHERERS] ??= new AsyncLocalStorage<Gatherer>();
}

/** Says that the HTML which is made now is this page's alone, so that caches do not keep it. */
export function refuseCaches(): void {
  holder[GATHERERS]?.getStore()?.refuse?.();
}
