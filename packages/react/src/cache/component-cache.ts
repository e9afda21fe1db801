/** HTML of components by key, in as many variants as what they read had values. Bounded by bytes; the least recently used goes first. */

/** Part of an entry that the cache has to know; the rest is its maker's. */
export interface CacheEntry {
  /** Approximate memory, bytes. */
  readonly bytes: number;
  /** End of its lifetime, by the clock of the cache. */
  readonly expires_at_ms: number;
  readonly tags: ReadonlySet<string>;
}

export interface CacheStatistics {
  readonly entries: number;
  readonly bytes: number;
  readonly bytes_max: number;
  readonly hits: number;
  readonly misses: number;
  /** Entries that made room for others. */
  readonly evictions: number;
}

/** Variants of one key: more than these mean that it is read with something that is new in each request. */
const VARIANTS_MAX = 8;
/** One entry takes no more than this share of the cache. */
const SHARE_MAX = 1 / 8;

export class ComponentCache<Entry extends CacheEntry> {
  readonly now_ms: () => number;
  #bytesMax: number;
  #bytes = 0;
  #entries = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;
  #purges = 0;
  /** The most recently used last, the variants of a key as well. */
  readonly #variants = new Map<string, Entry[]>();

  constructor(bytesMax: number, now_ms: () => number = () => performance.now()) {
    this.#bytesMax = bytesMax;
    this.now_ms = now_ms;
  }

  /** Goes up with each purge: what was begun before one may be made of what was purged. */
  get purges(): number {
    return this.#purges;
  }

  get keepsNothing(): boolean {
    return this.#bytesMax <= 0;
  }

  get statistics(): CacheStatistics {
    return {
      entries: this.#entries,
      bytes: this.#bytes,
      bytes_max: this.#bytesMax,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  /** The variant that `fits`, as long as it has not expired. */
  find(key: string, fits: (entry: Entry) => boolean): Entry | undefined {
    const variants = this.#variants.get(key);
    const now_ms = this.now_ms();
    const at = variants?.findLastIndex((entry) => entry.expires_at_ms > now_ms && fits(entry)) ?? -1;
    if (variants === undefined || at < 0) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    const [entry] = variants.splice(at, 1) as [Entry];
    variants.push(entry);
    this.#variants.delete(key);
    this.#variants.set(key, variants);
    return entry;
  }

  /** All that are there now, expired or not. */
  variants(key: string): readonly Entry[] {
    return [...(this.#variants.get(key) ?? [])];
  }

  add(key: string, entry: Entry): void {
    if (entry.bytes > this.#bytesMax * SHARE_MAX) return;
    const now_ms = this.now_ms();
    const variants = this.#remove(key, ({ expires_at_ms }) => expires_at_ms <= now_ms);
    const [oldest] = variants;
    const kept = variants.length < VARIANTS_MAX ? variants : this.#evict(key, (each) => each === oldest);
    kept.push(entry);
    this.#variants.delete(key);
    this.#variants.set(key, kept);
    this.#bytes += entry.bytes;
    this.#entries += 1;
    this.#shrink();
  }

  /** Drops all that has the tag, or everything; returns how many entries. */
  purge(tag?: string): number {
    this.#purges += 1;
    const before = this.#entries;
    for (const key of this.#variants.keys()) {
      this.#remove(key, ({ tags }) => tag === undefined || tags.has(tag));
    }
    return before - this.#entries;
  }

  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#shrink();
  }

  #shrink(): void {
    for (const key of this.#variants.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#evict(key, () => true);
    }
  }

  #evict(key: string, isGone: (entry: Entry) => boolean): Entry[] {
    const before = this.#entries;
    const kept = this.#remove(key, isGone);
    this.#evictions += before - this.#entries;
    return kept;
  }

  /** Returns what is left of the key's variants. */
  #remove(key: string, isGone: (entry: Entry) => boolean): Entry[] {
    const variants = this.#variants.get(key) ?? [];
    const kept: Entry[] = [];
    for (const entry of variants) {
      if (!isGone(entry)) kept.push(entry);
      else {
        this.#bytes -= entry.bytes;
        this.#entries -= 1;
      }
    }
    if (kept.length === 0) this.#variants.delete(key);
    else this.#variants.set(key, kept);
    return kept;
  }
}
