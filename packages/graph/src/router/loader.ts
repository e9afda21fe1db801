/**
 * Loaders: keys that are asked for within one turn are fetched by one call, and each key once. A loader lives as long as one request, so that
 * no user gets data of another. It must not know routes.
 */

/** Loads one value by its key. */
export interface Loader<K, V> {
  /** Rejects with what the batch function threw, or with the `Error` that it gave for the key. */
  load(key: K): Promise<V>;
  /** Values in the order of the keys. Rejects with the first error. */
  loadMany(keys: readonly K[]): Promise<V[]>;
}

/** Values in the order of the keys, with an `Error` for a key that has none; or a map of them, with undefined for keys that it lacks. */
export type BatchResult<K, V> = readonly (V | Error)[] | ReadonlyMap<K, V | Error>;
export type BatchFunction<K, V> = (keys: readonly K[]) => BatchResult<K, V> | Promise<BatchResult<K, V>>;

export interface LoaderOptions<K> {
  /** Bounds the keys of one call; more are fetched by several. Default: 1,000. */
  readonly batchMax?: number;
  /** Text or number by which keys are the same. Default: the key itself. */
  readonly identity?: (key: K) => unknown;
}

const BATCH_MAX = 1_000;

interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a loader. Failed keys stay failed for the life of the loader. */
export function createLoader<K, V>(
  batch: BatchFunction<K, V>,
  { batchMax = BATCH_MAX, identity }: LoaderOptions<K> = {},
): Loader<K, V> {
  return new Batching(batch, batchMax, identity);
}

class Batching<K, V> implements Loader<K, V> {
  readonly #batch: BatchFunction<K, V>;
  readonly #batchMax: number;
  readonly #identity: ((key: K) => unknown) | undefined;
  readonly #loaded = new Map<unknown, Promise<V>>();
  #waiting: Waiting<K, V>[] = [];

  constructor(batch: BatchFunction<K, V>, batchMax: number, identity: ((key: K) => unknown) | undefined) {
    this.#batch = batch;
    this.#batchMax = batchMax;
    this.#identity = identity;
  }

  load(key: K): Promise<V> {
    const id = this.#identity === undefined ? key : this.#identity(key);
    const before = this.#loaded.get(id);
    if (before !== undefined) return before;
    const loaded = new Promise<V>((resolve, reject) => {
      if (this.#waiting.push({ key, resolve, reject }) === 1) afterTurn(() => this.#dispatch());
    });
    this.#loaded.set(id, loaded);
    return loaded;
  }

  loadMany(keys: readonly K[]): Promise<V[]> {
    return Promise.all(keys.map((key) => this.load(key)));
  }

  #dispatch(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < all.length; at += this.#batchMax)
      void this.#fetch(all.slice(at, at + this.#batchMax));
  }

  async #fetch(waiting: readonly Waiting<K, V>[]): Promise<void> {
    try {
      const result = await this.#batch(waiting.map(({ key }) => key));
      if (Array.isArray(result) && result.length !== waiting.length)
        throw new Error(`The batch function returned ${result.length} values for ${waiting.length} keys`);
      waiting.forEach(({ key, resolve, reject }, index) => {
        const value = (Array.isArray(result) ? result[index] : (result as ReadonlyMap<K, V>).get(key)) as
          V | Error;
        if (value instanceof Error) reject(value);
        else resolve(value);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** Runs a task when the promises that are settled now have been continued. */
function afterTurn(task: () => void): void {
  const { process } = globalThis as { readonly process?: { nextTick?(task: () => void): void } };
  if (process?.nextTick === undefined) setTimeout(task, 0);
  else void Promise.resolve().then(() => process.nextTick?.(task));
}
