/** Entries of routers that repeat an earlier one, and the line that says so when a worker has started. Loaded when there are routers. */
import { written } from './call-site.js';
import { type Entry, type Listed, listTables } from './route-list.js';
import { type RouteTables, sizeOf } from './route-tables.js';
import { endsRequests, type Handler } from './route-walk.js';

/** Entries of all routers up to which a worker looks for repeated ones by itself. */
const LOOKED_MAX = 2000;
/** Routes that the line names. */
const NAMED_MAX = 3;
/** Longest part of a path that the line shows. */
const TEXT_CHARACTERS_MAX = 200;

/**
 * Line about routes that are never reached, because an earlier one has the same method and path and passes nothing on. Undefined where
 * there are none, and where there are too many routes to look.
 */
export function repeatsLine(tables: RouteTables): string | undefined {
  const size = tables.tables().reduce((sum, table) => sum + sizeOf(table), 0);
  if (size > LOOKED_MAX) return undefined;
  const found = listTables(tables).listed.flatMap(({ framework, steps }) =>
    [...repeats(flat(steps), framework)].filter(
      ([entry, first]) => entry.kind === 'route' && endsRequests(first),
    ),
  );
  if (found.length === 0) return undefined;
  const named = found.slice(0, NAMED_MAX).map(([entry, first]) => {
    const methods = entry.methods.length === 0 ? 'ALL' : entry.methods.join(', ');
    const path = entry.path.slice(0, TEXT_CHARACTERS_MAX);
    return `${methods} ${path}${placeOf(' at ', entry)}${placeOf(', first at ', first)}`;
  });
  const more = found.length > NAMED_MAX ? `; and ${found.length - NAMED_MAX} more` : '';
  const what = found.length === 1 ? '1 route is' : `${found.length} routes are`;
  return `${what} registered again and never reached: ${named.join('; ')}${more}. Remove one of each two; sluice routes lists all routes.`;
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
