/** Sums that are told once a second: entries by name in bounded number, and the time of telling. It must not know what is summed. */
import { later } from '../timers.js';

/** Time for which reports are summed up. */
const EVERY_MS = 1000;
/** Name of what is beyond the bound. */
export const OTHER = 'other';

/** Calls `tell` a second after the first call of `soon()` since it told, and when the process exits. */
export class Telling {
  readonly #tell: () => void;
  #isDue = false;
  #isWatchingExit = false;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    later(() => this.#now(), EVERY_MS).unref();
    if (this.#isWatchingExit) return;
    this.#isWatchingExit = true;
    // A small line to a unix socket still goes out while the process exits.
    process.once('exit', () => this.#now());
  }

  #now(): void {
    this.#isDue = false;
    this.#tell();
  }
}

/** The entry of a name, cut to `characters_max`; `other`'s where it is none or there are `names_max`. */
export function within<T>(
  entries: Map<string, T>,
  name: unknown,
  names_max: number,
  characters_max: number,
  make: (name: string) => T,
): T {
  let key = typeof name === 'string' && name !== '' ? cut(name, characters_max) : OTHER;
  if (!entries.has(key) && entries.size >= names_max) key = OTHER;
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = make(key);
    entries.set(key, entry);
  }
  return entry;
}

/** The first characters of a text. Halves of a pair, which the gateway takes for no text, become U+FFFD. */
export function cut(text: string, characters_max: number): string {
  const first = text.length > characters_max ? text.slice(0, characters_max) : text;
  return first.replace(/\p{Surrogate}/gu, '\uFFFD');
}
