/**
 * The routers of this process, and where each of their entries was registered. Told of registrations alone, so that a request
 * pays nothing; the tables themselves stay with their routers and are read when somebody asks. It must not know any router.
 */
import { callSite, type CallSite, written } from './call-site.js';

/**
 * Maximum number of remembered routers. An app may make one for each request, so that those that are gone
 * make room.
 */
const TABLES_MAX = 1000;
/**
 * Maximum number of entries whose position is remembered. So many from the start, and as many that were
 * added later. Further ones are counted.
 */
const NOTES_MAX = 10_000;
/** Routers without room between two looks for those that are gone. */
const LOOK_EVERY = 100;
/** Maximum number of positions that added entries while the worker served. Further ones count together. */
const PLACES_MAX = 200;
/** Maximum number of positions reported to the gateway. */
const PLACES_TOLD_MAX = 3;

export type Framework = 'express' | 'koa-router' | 'hono' | 'fastify';

/** Facts about an entry from the time of its registration. */
export interface Note {
  readonly site: CallSite | undefined;
  /** The path as it was given, where the entry itself does not keep it. */
  readonly path: unknown;
  /** True if it came while the worker served. */
  readonly isAdded: boolean;
}

export interface Table {
  readonly framework: Framework;
  readonly router: WeakRef<object>;
  /** Entries when its first second with a serving worker was over. */
  base: number | undefined;
  /** Entries that were registered, removed ones as well, where the router does not show them. */
  count: number;
}

/** Way in which the entries of a router are noted. */
export interface Kind {
  readonly path?: unknown;
  /** Returns its last handler. */
  readonly handlerOf?: (entry: object) => unknown;
  /** The entry was copied from another router, where its handler was registered first: that is its place. */
  readonly isCopy?: (entry: object, first: Note) => boolean;
}

/** A place in the app that adds entries while the worker serves. */
export interface Adder extends CallSite {
  added: number;
}

/** Changes since the latest report. */
export interface Growth {
  /** Entries of all routers. */
  readonly size: number;
  /** Number of entries beyond those when the worker had served for a second. */
  readonly added: number;
  readonly places: readonly Adder[];
}

export class RouteTables {
  readonly #tables = new Set<Table>();
  /** Entries by their routers, which go with them: handlers know the apps that they are in. */
  readonly #entries = new WeakMap<object, object[]>();
  readonly #byRouter = new WeakMap<object, Table>();
  readonly #notes = new WeakMap<object, Note>();
  /** The first note of each handler of routers that copy their entries. */
  readonly #byHandler = new WeakMap<object, Note>();
  readonly #adders = new Map<string, Adder>();
  /** Notes from the start, and later ones. */
  readonly #noted = { first: 0, added: 0 };
  #refused = 0;
  #hasNews = false;
  #added_told = 0;
  /** Entries and routers that are not remembered, for want of room. */
  left_off = 0;

  /** Undefined where there is no room for it. */
  table(framework: Framework, router: object): Table | undefined {
    const known = this.#byRouter.get(router);
    if (known !== undefined) return known;
    if (this.#tables.size >= TABLES_MAX && this.#refused++ % LOOK_EVERY === 0) this.#dropGone();
    if (this.#tables.size >= TABLES_MAX) {
      this.left_off += 1;
      return undefined;
    }
    const table: Table = {
      framework,
      router: new WeakRef(router),
      base: undefined,
      count: 0,
    };
    this.#byRouter.set(router, table);
    this.#tables.add(table);
    return table;
  }

  /** Entries were registered by a call of `callee`; those that were noted before keep their notes. */
  note(
    table: Table,
    entries: readonly object[],
    callee: (...parts: never[]) => unknown,
    { path, handlerOf, isCopy }: Kind = {},
  ): void {
    this.#hasNews = true;
    const fresh = entries.filter((entry) => !this.#notes.has(entry));
    if (fresh.length === 0) return;
    const isAdded = table.base !== undefined;
    const kind = isAdded ? 'added' : 'first';
    if (this.#noted[kind] >= NOTES_MAX) {
      this.left_off += fresh.length;
      return;
    }
    this.#noted[kind] += fresh.length;
    const site = callSite(callee);
    if (isAdded) this.#countAt(site, fresh.length);
    for (const entry of fresh) {
      const handler = handlerOf?.(entry);
      const first = typeof handler === 'function' ? this.#byHandler.get(handler) : undefined;
      const isCopied = first !== undefined && isCopy?.(entry, first) === true;
      const note: Note = { site: isCopied ? first.site : site, path, isAdded };
      this.#notes.set(entry, note);
      if (typeof handler === 'function' && first === undefined) this.#byHandler.set(handler, note);
    }
  }

  /** A router that was found where it is, and whose registrations nobody saw. */
  take(framework: Framework, router: object, entries: object[]): void {
    const table = this.table(framework, router);
    if (table === undefined) return;
    this.#entries.set(router, entries);
    table.count = entries.length;
  }

  /** Entries of a router that does not show its own. */
  entriesOf(router: object): readonly object[] {
    return this.#entries.get(router) ?? [];
  }

  /** One more entry of such a router; it is kept if it was noted. */
  add(table: Table, router: object, entry: object): void {
    table.count += 1;
    if (!this.#notes.has(entry)) return;
    const entries = this.#entries.get(router);
    if (entries === undefined) this.#entries.set(router, [entry]);
    else entries.push(entry);
  }

  noteOf(entry: object): Note | undefined {
    return this.#notes.get(entry);
  }

  /** Returns the tables that are still there. */
  tables(): readonly Table[] {
    this.#dropGone();
    return [...this.#tables];
  }

  /**
   * Returns what is new; to be called every second from when the worker has served for one. Undefined if nothing was added
   * or taken away.
   */
  news(): Growth | undefined {
    if (!this.#hasNews) return undefined;
    this.#hasNews = false;
    let [size, added] = [0, 0];
    for (const table of this.#tables) {
      const now = sizeOf(table);
      size += now;
      table.base ??= now;
      added += Math.max(now - table.base, 0);
    }
    if (added === this.#added_told) return undefined;
    this.#added_told = added;
    const places = [...this.#adders.values()].sort((one, other) => other.added - one.added);
    const told = places.slice(0, PLACES_TOLD_MAX);
    return { size, added, places: told.map((place) => ({ ...written(place), added: place.added })) };
  }

  #countAt(site: CallSite | undefined, count: number): void {
    if (site === undefined) return;
    const key = `${site.file}:${site.line}:${site.column}`;
    const known = this.#adders.get(key);
    if (known !== undefined) known.added += count;
    else if (this.#adders.size < PLACES_MAX) this.#adders.set(key, { ...site, added: count });
  }

  #dropGone(): void {
    for (const table of this.#tables) {
      if (table.router.deref() === undefined) this.#tables.delete(table);
    }
  }
}

export function sizeOf({ router, count }: Table): number {
  const { stack } = (router.deref() ?? {}) as { readonly stack?: unknown };
  return Array.isArray(stack) ? stack.length : count;
}
