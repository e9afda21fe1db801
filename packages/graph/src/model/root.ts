/** State that all views of a model share. */
import type { DataSource, Envelope } from '../types.js';
import { Cache, type CacheOptions, type Writer } from './cache.js';
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

  /** Id of a write, which no other has. */
  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** Takes an envelope that is not the answer to a read. If it drops values, answers in flight are old then. */
  merge(envelope: Envelope, writer: Writer): void {
    if ((envelope.invalidated?.length ?? 0) > 0) this.requests?.outdate();
    this.cache.merge(envelope, writer);
  }

  /** Drops what an answer brought to be read once, and settles. */
  drop(writer: Writer): void {
    this.cache.drop(writer);
    this.settle();
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
