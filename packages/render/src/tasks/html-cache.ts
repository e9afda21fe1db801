/**
 * HTML of components by the keys that their settings make of props. One cache for a process, bounded in bytes; what has not been
 * used since it was last looked at goes first. A purge by tag drops entries, one by URL or prefix outdates them for the pages that it
 * means. It must not know components: keys and times are its callers'.
 */
import { currentPaths, PagePurges } from '#host/caches.js';
import { piecesOf } from './placed-html.js';

/** Memory of one entry beside its texts, in bytes: a rough upper bound. */
const ENTRY_BYTES = 256;
/** Memory of a piece beside its bytes. */
const PIECE_BYTES = 128;
const BYTES_OF_CHARACTER = 2;
/** Part of the cache that one entry may take. */
const ENTRY_SHARE_MAX = 1 / 8;

const NO_TAGS: readonly string[] = [];

/** Cached HTML. */
export interface Entry {
  /** HTML as it was set; from the first call of `pieces` on its UTF-8, cut where ids go. */
  html: string | readonly Buffer[];
  /** Tags by which a purge drops it. */
  readonly tags: readonly string[];
  readonly until_ms: number;
  /** Purges of the cache when it was made. */
  readonly purges: number;
  bytes: number;
  /** Whether it was found since room was last made. */
  isUsed: boolean;
}

export class HtmlCache {
  readonly #bytesMax: number;
  /** Entries in the order in which room is made, the next to go first. */
  readonly #entries = new Map<string, Entry>();
  readonly #pagePurges = new PagePurges();
  #bytes = 0;
  /** Number of purges so far. HTML that was begun before the latest may be of what was purged. */
  purges = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The HTML, where it has no places for ids. */
  get(key: string, now_ms: number): string | undefined {
    const html = this.find(key, now_ms)?.html;
    return typeof html === 'object' ? html.join('') : html;
  }

  /** UTF-8 of an entry's HTML, cut where `place` stands, which is the same for all calls. */
  pieces(entry: Entry, place: string): readonly Buffer[] {
    const { html } = entry;
    if (typeof html !== 'string') return html;
    const pieces = piecesOf(html, place);
    const more = pieces.reduce(
      (sum, { length }) => sum + length + PIECE_BYTES,
      -BYTES_OF_CHARACTER * html.length,
    );
    entry.html = pieces;
    entry.bytes += more;
    this.#bytes += more;
    this.#makeRoom();
    return pieces;
  }

  /** The HTML with its tags. */
  find(key: string, now_ms: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until_ms <= now_ms || this.#isOutdated(entry)) {
      this.#remove(key);
      return undefined;
    }
    // Nothing is moved: keys are as long as props, and each look at the map compares one whole.
    entry.isUsed = true;
    return entry;
  }

  set(key: string, html: string, until_ms: number, tags = NO_TAGS): void {
    this.#remove(key);
    const characters = tags.reduce((sum, tag) => sum + tag.length, key.length + html.length);
    const bytes = BYTES_OF_CHARACTER * characters + ENTRY_BYTES;
    if (bytes > this.#bytesMax * ENTRY_SHARE_MAX) return;
    this.#entries.set(key, { html, tags, until_ms, purges: this.purges, bytes, isUsed: false });
    this.#bytes += bytes;
    this.#makeRoom();
  }

  /**
   * Drops the HTML with the tag, or all of it. Returns the number of dropped entries. The tag of a purge of pages drops none at once:
   * it outdates all entries for those pages.
   */
  purge(tag?: string): number {
    this.purges += 1;
    if (tag !== undefined && this.#pagePurges.means(tag)) {
      if (this.#pagePurges.add(tag, this.purges)) return 0;
      return this.purge();
    }
    if (tag === undefined) this.#pagePurges.clear();
    let dropped = 0;
    for (const [key, { tags }] of this.#entries) {
      if (tag !== undefined && !tags.includes(tag)) continue;
      this.#remove(key);
      dropped += 1;
    }
    return dropped;
  }

  /** Drops entries until the bytes are within the limit. One that was used goes behind all others once. */
  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.delete(key);
        this.#entries.set(key, entry);
      } else {
        this.#remove(key);
      }
    }
  }

  /** The page that is being made was purged since. */
  #isOutdated({ purges }: Entry): boolean {
    return purges < this.#pagePurges.latest && purges < this.#pagePurges.latestOf(currentPaths());
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
