/** Entries of routers that repeat an earlier one, and the lines that say so when a worker has started. Loaded when there are routers. */
import { written } from './call-site.js';
import { type Entry, type Listed, listTables } from './route-list.js';
import { type RouteTables, sizeOf } from './route-tables.js';
import { endsRequests, type Handler, mayPassOn } from './route-walk.js';

/** Maximum number of entries of all routers in which a worker searches for repetitions by itself. */
const LOOKED_MAX = 2000;
/** Maximum number of routes in the line. */
const NAMED_MAX = 3;
/** Maximum shown length of a path, characters. */
const TEXT_CHARACTERS_MAX = 200;

/** A route, and the first one with its method and path. */
type Repeat = readonly [entry: Entry, first: Entry];

/**
 * Lines about routes that are never reached, or hardly ever, because an earlier one has the same method and path and passes nothing on.
 * None where there are too many routes to look.
 */
export function repeatLines(tables: RouteTables): string[] {
  const size = tables.tables().reduce((sum, table) => sum + sizeOf(table), 0);
  if (size > LOOKED_MAX) return [];
  const never: Repeat[] = [];
  const unlessSkipped: Repeat[] = [];
  for (const { framework, steps } of listTables(tables).listed) {
    for (const repeat of repeats(flat(steps), framework)) {
      const [entry, first] = repeat;
      if (entry.kind !== 'route' || !endsRequests(first)) continue;
      const skippers = framework === 'express' ? skippersOf(steps, entry, first) : [];
      if (skippers.length === 0) never.push(repeat);
      // Whoever writes that wants the other route.
      else if (!skippers.some((handler) => SKIPS.test(sourceOf(handler)))) unlessSkipped.push(repeat);
    }
  }
  const lists = 'sluice routes lists all routes.';
  return [
    ...(never.length === 0
      ? []
      : [
          `${amountOf(never)} registered again and never reached: ${namesOf(never)}. Remove one of each two; ${lists}`,
        ]),
    ...(unlessSkipped.length === 0
      ? []
      : [
          `${amountOf(unlessSkipped)} registered again, and reached only if a handler before calls next('route') or next('router'): ${namesOf(unlessSkipped)}. If none does, remove one of each two; ${lists}`,
        ]),
  ];
}

/** Source of a call that has Express leave a route or a router. */
const SKIPS = /(['"`])router?\1/;

/** Handlers that may have a request skip `first`, or the routers that hold it, so that it comes to `entry`. */
function skippersOf(steps: readonly Entry[], entry: Entry, first: Entry): Handler[] {
  const own = first.handlers.slice(0, -1);
  const routers = wayTo(steps, first);
  const before = routers
    .filter((router) => router !== steps && !flat(router).includes(entry))
    .flatMap((router) =>
      router.slice(
        0,
        router.findIndex((step) => flat([step]).includes(first)),
      ),
    )
    .filter(({ kind, below }) => kind !== 'error' && below === undefined)
    .flatMap(({ handlers, next }) => handlers.filter((handler) => mayPassOn(handler, next)));
  return [...own, ...before];
}

/** Entries of each router that holds the entry, from the outermost on. */
function wayTo(steps: readonly Entry[], entry: Entry): (readonly Entry[])[] {
  if (steps.includes(entry)) return [steps];
  for (const { below } of steps) {
    const way = below === undefined ? [] : wayTo(below, entry);
    if (way.length > 0) return [steps, ...way];
  }
  return [];
}

function amountOf({ length }: readonly Repeat[]): string {
  return length === 1 ? '1 route is' : `${length} routes are`;
}

function namesOf(found: readonly Repeat[]): string {
  const named = found.slice(0, NAMED_MAX).map(([entry, first]) => {
    const methods = entry.methods.length === 0 ? 'ALL' : entry.methods.join(', ');
    const path = entry.path.slice(0, TEXT_CHARACTERS_MAX);
    return `${methods} ${path}${placeOf(' at ', entry)}${placeOf(', first at ', first)}`;
  });
  const more = found.length > NAMED_MAX ? `; and ${found.length - NAMED_MAX} more` : '';
  return `${named.join('; ')}${more}`;
}

function placeOf(before: string, { note }: Entry): string {
  if (note?.site === undefined) return '';
  const { file, line } = written(note.site);
  return `${before}${file.replace(/^file:\/\//, '')}:${line}`;
}

export function flat(steps: readonly Entry[]): Entry[] {
  return steps.flatMap((step) => [step, ...flat(step.below ?? [])]);
}

/** Entries that repeat an earlier one, with the first of these. */
export function repeats(entries: readonly Entry[], framework: Listed['framework']): Map<Entry, Entry> {
  const seen = new Map<string, Entry>();
  const found = new Map<Entry, Entry>();
  const numbers = new Map<Handler, number>();
  for (const entry of entries) {
    const keys = keysOf(entry, numbers);
    const firsts = keys.map((key) => seen.get(key)).filter((first) => first !== undefined);
    const first = firsts[0];
    const isWhole = entry.kind === 'route' ? firsts.length === keys.length : first !== undefined;
    // Hono has an entry for each handler of a route, of which all but the last pass requests on.
    const isChain =
      framework === 'hono' && first !== undefined && !endsRequests(first) && !isSame(first, entry);
    if (first !== undefined && isWhole && !isChain) found.set(entry, first);
    for (const key of keys) if (!seen.has(key) || (isChain && seen.get(key) === first)) seen.set(key, entry);
  }
  return found;
}

function keysOf(entry: Entry, numbers: Map<Handler, number>): string[] {
  const { kind, methods, path, handlers, note } = entry;
  if (kind === 'route')
    return (methods.length === 0 ? ['ALL'] : methods).map((method) => `${method} ${path}`);
  const handler = handlers.at(-1);
  if (handler === undefined) return [];
  const number = numbers.get(handler) ?? numbers.size;
  numbers.set(handler, number);
  const keys = [`${number} ${path}`];
  // The same code makes a function of its own each time.
  const site = note?.site;
  if (site !== undefined) keys.push(`${site.file}:${site.line}:${site.column} ${path} ${sourceOf(handler)}`);
  return keys;
}

function isSame(one: Entry, other: Entry): boolean {
  const [first, second] = [one.handlers.at(-1), other.handlers.at(-1)];
  if (first === undefined || second === undefined) return false;
  return first === second || sourceOf(first) === sourceOf(second);
}

function sourceOf(handler: Handler): string {
  return Function.prototype.toString.call(handler);
}
