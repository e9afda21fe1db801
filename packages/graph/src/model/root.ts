/** State that all views of a model share. */
import type { DataSource } from '../types.js';
import { Cache, type CacheOptions } from './cache.js';
import { Requests } from './requests.js';

/** Cache, its data source, and those who are told of changes. */
export class Root {
  readonly cache: Cache;
  readonly source: DataSource | undefined;
  readonly requests: Requests | undefined;
  /** Largest number of paths that one read or write may stand for. */
  readonly maxPaths: number;
  readonly listeners = new Set<() => void>();
  #ids = 0;
  #toldVersion = 0;

  constructor(source: DataSource | undefined, options: CacheOptions, maxPaths: number) {
    this.cache = new Cache(options);
    this.source = source;
    this.requests = source === undefined ? undefined : new Requests(this, source);
    this.maxPaths = maxPaths;
  }

  nextWriteId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  nextAnswerId(): number {
    return -this.nextWriteId();
  }

  /** Keeps the bound of the cache, and tells of what has changed. */
  settle(): void {
    this.cache.collect();
    this.tell();
  }

  /** Tells listeners and subscriptions of what has changed. */
  tell(): void {
    const { version } = this.cache;
    this.cache.watching.flush(callSafely);
    if (version === this.#toldVersion) return;
    this.#toldVersion = version;
    for (const listener of Array.from(this.listeners)) callSafely(listener);
  }
}

/** Calls a listener. Its error is thrown apart, as the cache must not be left half told. */
function callSafely(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
