/**
 * Slow model of a cache, written from the rules alone: a flat map from the text of a path to its value. No tree, no cached target of a
 * reference, no list of uses.
 */
import { countPaths, expandPaths, keysOf } from '../../src/paths/index.js';
import { bytesOf } from '../../src/model/size.js';
import type { Envelope, JsonGraph, Key, KeySet, PathSet } from '../../src/types.js';

type Pos = readonly string[];

/** Value at a place. */
interface Value {
  pos: Pos;
  wire: unknown;
  kind: 'atom' | 'ref' | 'error';
  value: unknown;
  expires: number;
  timestamp: number;
  size: number;
  used: number;
  setAt: number;
  setBy: number;
  /** Whether it is to be read although it has expired: its readers have not read it yet. */
  isFresh: boolean;
}

export interface Writer {
  id: number;
  sentAt: number;
  isOnce: boolean;
}

export interface Options {
  readonly maxSize: number;
  readonly collectRatio: number;
  readonly now: () => number;
}

/** What a read finds. */
export interface Found {
  json: Record<string, unknown>;
  hasValue: boolean;
  /** Single paths, as texts. */
  missing: Set<string>;
  errors: Map<string, unknown>;
}

/** Value that was written, and the values in place of which it is. */
interface Entry {
  pos: Pos;
  before: { pos: Pos; wire: unknown }[];
}

type Place =
  { at: 'value'; value: Value } | { at: 'branch'; pos: Pos } | { at: 'nothing'; pos: Pos; rest: Pos };

export class Loop extends Error {}

const text = (pos: readonly (Key | string)[]): string => JSON.stringify(pos.map(String));
const isUnder = (pos: Pos, top: Pos): boolean =>
  pos.length > top.length && top.every((key, at) => pos[at] === key);

export const isWire = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || typeof (value as JsonGraph)['$type'] === 'string';

/** Text of a path that says which key is null. */
export const pathText = (path: readonly unknown[]): string =>
  JSON.stringify(path.map((key) => (key === null ? null : String(key as Key))));

export class Reference {
  readonly values = new Map<string, Value>();
  readonly options: Options;
  moment = 0;
  clock = 0;
  #hops = 0;

  constructor(options: Options) {
    this.options = options;
  }

  isExpired({ expires, isFresh }: Value): boolean {
    return !isFresh && expires !== 1 && (expires === 0 || expires <= this.options.now());
  }

  touch(value: Value): void {
    this.clock += 1;
    value.used = this.clock;
  }

  hasBranch(pos: Pos): boolean {
    return pos.length === 0 || [...this.values.values()].some((value) => isUnder(value.pos, pos));
  }

  under(pos: Pos): Value[] {
    return [...this.values.values()].filter((value) => isUnder(value.pos, pos));
  }

  /** Place that a reference leads to in the end. */
  follow(ref: Value): Place {
    this.#hops = 0;
    return this.#follow(ref);
  }

  #follow(ref: Value): Place {
    for (let at = ref; ;) {
      this.#hops += 1;
      if (this.#hops > 64) throw new Loop();
      const place = this.#resolve((at.value as Key[]).map(String));
      if (place.at !== 'value') return place;
      const { value } = place;
      if (this.isExpired(value))
        return { at: 'nothing', pos: value.pos.slice(0, -1), rest: value.pos.slice(-1) };
      this.touch(value);
      if (value.kind !== 'ref') return place;
      at = value;
    }
  }

  #resolve(path: Pos): Place {
    let pos: Pos = [];
    for (let depth = 0; depth < path.length; depth += 1) {
      const next = [...pos, path[depth] as string];
      const value = this.values.get(text(next));
      if (value === undefined) {
        if (!this.hasBranch(next)) return { at: 'nothing', pos, rest: path.slice(depth) };
        pos = next;
        continue;
      }
      if (depth === path.length - 1) return { at: 'value', value };
      if (this.isExpired(value)) return { at: 'nothing', pos, rest: path.slice(depth) };
      this.touch(value);
      if (value.kind !== 'ref') return { at: 'value', value };
      const target = this.#follow(value);
      if (target.at === 'nothing') return { ...target, rest: [...target.rest, ...path.slice(depth + 1)] };
      if (target.at === 'value') return target;
      pos = target.pos;
    }
    return { at: 'branch', pos };
  }

  read(pathSets: readonly PathSet[], view: { isBoxed?: boolean; takesErrors?: boolean } = {}): Found {
    const found: Found = { json: {}, hasValue: false, missing: new Set(), errors: new Map() };
    const expired: Value[] = [];
    const miss = (pos: Pos, rest: PathSet): void => {
      for (const tail of expandPaths([rest])) found.missing.add(pathText([...pos, ...tail]));
    };
    const walk = (
      pos: Pos,
      pathSet: PathSet,
      depth: number,
      json: Record<string, unknown>,
      asked: Key[],
    ): void => {
      for (const key of keysOf(pathSet[depth] as KeySet)) {
        const rest = pathSet.slice(depth + 1);
        const isLast = rest.length === 0;
        let place = this.#placeAt([...pos, String(key)]);
        if (place.at === 'value' && this.isExpired(place.value)) {
          expired.push(place.value);
          place = { at: 'nothing', pos, rest: [String(key)] };
        } else if (place.at === 'value') {
          this.touch(place.value);
          if (place.value.kind === 'ref' && !isLast) place = this.follow(place.value);
        }
        if (place.at === 'nothing') miss([...place.pos, ...place.rest], rest);
        else if (place.at === 'branch') {
          if (isLast || (rest.length === 1 && rest[0] === null)) continue;
          const name = String(key);
          if (!isBranch(json, name)) define(json, name, branch());
          walk(place.pos, pathSet, depth + 1, json[name] as Record<string, unknown>, [...asked, key]);
        } else {
          const { kind, value, wire } = place.value;
          const boxed = typeof wire === 'object' && wire !== null ? wire : { $type: 'atom', value };
          if (kind === 'error' && view.takesErrors !== true)
            found.errors.set(pathText([...asked, key]), view.isBoxed === true ? boxed : value);
          else if (
            view.isBoxed === true
              ? !(kind === 'ref' && isBranch(json, String(key)))
              : kind !== 'ref' && value !== undefined
          ) {
            define(json, String(key), view.isBoxed === true ? boxed : value);
            found.hasValue = true;
          }
        }
      }
    };
    const branches = new WeakSet<object>();
    const branch = (): Record<string, unknown> => {
      const json = {};
      branches.add(json);
      return json;
    };
    const isBranch = (json: Record<string, unknown>, name: string): boolean =>
      Object.hasOwn(json, name) &&
      typeof json[name] === 'object' &&
      json[name] !== null &&
      branches.has(json[name]);
    for (const pathSet of pathSets) if (pathSet.length > 0) walk([], pathSet, 0, found.json, []);
    for (const value of expired)
      if (this.values.get(text(value.pos)) === value) this.values.delete(text(value.pos));
    return found;
  }

  #placeAt(pos: Pos): Place {
    const value = this.values.get(text(pos));
    if (value !== undefined) return { at: 'value', value };
    return this.hasBranch(pos)
      ? { at: 'branch', pos }
      : { at: 'nothing', pos: pos.slice(0, -1), rest: pos.slice(-1) };
  }

  /** Writes a value at a place; what is above or below it leaves. */
  put(pos: Pos, wire: unknown): Value {
    for (const value of this.values.values())
      if (isUnder(value.pos, pos) || isUnder(pos, value.pos)) this.values.delete(text(value.pos));
    const fields = fieldsOf(wire, this.options.now());
    const size = fields.size + (pos.at(-1) as string).length;
    const value: Value = { pos, ...fields, size, used: 0, setAt: 0, setBy: 0, isFresh: false };
    // A value that is written again counts as used again.
    this.values.delete(text(pos));
    this.values.set(text(pos), value);
    this.touch(value);
    return value;
  }

  isNewer(value: Value, writer: Writer): boolean {
    if (value.setBy === writer.id) return false;
    if (writer.isOnce || value.setAt === Infinity) return true;
    // Writes and calls go in the order in which they were sent.
    return writer.id > 0 && value.setBy > 0
      ? value.setAt > 0 && value.setBy > writer.id
      : value.setAt > writer.sentAt;
  }

  merge({ jsonGraph, invalidated = [] }: Envelope, writer: Writer): void {
    this.invalidate(invalidated);
    const walk = (pos: Pos, graph: JsonGraph): void => {
      for (const [key, wire] of Object.entries(graph)) {
        const next = [...pos, key];
        const old = this.values.get(text(next));
        if (wire === undefined) continue;
        if (!isWire(wire)) {
          if (old !== undefined && !this.isExpired(old) && this.isNewer(old, writer)) continue;
          if (old !== undefined && Object.keys(wire as object).length > 0) this.values.delete(text(next));
          walk(next, wire as JsonGraph);
          continue;
        }
        const { timestamp } = fieldsOf(wire, 0);
        if (old === undefined) {
          if (this.under(next).some((value) => this.isNewer(value, writer))) continue;
        } else if (!this.isExpired(old)) {
          const isBoth = timestamp !== 0 && old.timestamp !== 0;
          if (isBoth && timestamp < old.timestamp) continue;
          if (this.isNewer(old, writer) && (writer.isOnce || !(isBoth && timestamp > old.timestamp)))
            continue;
        }
        const value = this.put(next, wire);
        if (writer.id > 0) {
          this.moment += 1;
          value.setAt = this.moment;
          value.setBy = writer.id;
        }
        if (writer.isOnce || this.isExpired(value)) {
          value.isFresh = true;
          value.setBy = writer.id;
        }
      }
    };
    walk([], jsonGraph);
  }

  /** Drops what the readers of an answer have read. */
  drop(writer: Writer): void {
    for (const value of this.values.values())
      if (value.isFresh && value.setBy === writer.id) this.values.delete(text(value.pos));
  }

  /** Places at path sets. */
  find(pathSet: PathSet): Pos[] {
    const found: Pos[] = [];
    const walk = (pos: Pos, depth: number): void => {
      if (depth === pathSet.length) {
        found.push(pos);
        return;
      }
      for (const key of keysOf(pathSet[depth] as KeySet)) {
        const isLast = depth === pathSet.length - 1;
        let place = this.#placeAt([...pos, String(key)]);
        if (place.at === 'value' && place.value.kind === 'ref' && !isLast) place = this.follow(place.value);
        if (place.at === 'nothing') continue;
        const next = place.at === 'value' ? place.value.pos : place.pos;
        if (isLast || pathSet[depth + 1] === null) found.push(next);
        else if (place.at === 'branch') walk(next, depth + 1);
      }
    };
    walk([], 0);
    return found;
  }

  invalidate(pathSets: readonly PathSet[]): void {
    for (const pos of pathSets.flatMap((pathSet) => this.find(pathSet)))
      for (const value of this.values.values())
        if (isUnder(value.pos, pos) || text(value.pos) === text(pos)) this.values.delete(text(value.pos));
  }

  get bytes(): number {
    return [...this.values.values()].reduce((sum, { size }) => sum + size, 0);
  }

  collect(): void {
    const { maxSize, collectRatio } = this.options;
    if (this.bytes <= maxSize) return;
    const byUse = [...this.values.values()].sort((one, other) => one.used - other.used);
    for (const value of byUse) {
      if (this.bytes <= maxSize * collectRatio) return;
      this.values.delete(text(value.pos));
    }
  }

  /** Whole cache as JSON Graph. */
  export(): JsonGraph {
    const graph = {};
    for (const value of this.values.values()) if (!this.isExpired(value)) nest(graph, value.pos, value.wire);
    return graph;
  }
}

/** One call of `set`. */
export class ReferenceWrite {
  readonly id: number;
  readonly sentAt: number;
  readonly isOnce = false;
  readonly #cache: Reference;
  readonly #waits: boolean;
  readonly #entries = new Map<string, Entry>();
  #over: Entry['before'] = [];

  constructor(cache: Reference, id: number, waits: boolean) {
    this.#cache = cache;
    this.id = id;
    this.#waits = waits;
    cache.moment += 1;
    this.sentAt = cache.moment;
  }

  set(pathSet: PathSet, wire: unknown): void {
    this.#over = [];
    if (pathSet.length > 0 && countPaths([pathSet]) > 0) this.#walk([], pathSet, 0, wire);
  }

  #walk(pos: Pos, pathSet: PathSet, depth: number, wire: unknown): void {
    const rest = pathSet.slice(depth + 1);
    const over = this.#over;
    for (const key of keysOf(pathSet[depth] as KeySet)) {
      this.#over = over;
      const next = [...pos, String(key)];
      if (rest.length === 0) this.#write(next, wire);
      else if (rest.length === 1 && rest[0] === null) {
        const target = this.#targetOf(next);
        for (let length = 1; length < target.length; length += 1) this.#pass(target.slice(0, length));
        this.#write(target, wire);
      } else {
        const target = this.#targetOf(next);
        for (let length = 1; length <= target.length; length += 1) this.#pass(target.slice(0, length));
        this.#walk(target, pathSet, depth + 1, wire);
      }
      // The branch that the path stood on was replaced by a value.
      if (pos.some((_, at) => this.#cache.values.has(text(pos.slice(0, at + 1))))) return;
    }
  }

  #targetOf(pos: Pos): Pos {
    const value = this.#cache.values.get(text(pos));
    if (value?.kind !== 'ref' || this.#cache.isExpired(value)) return pos;
    const place = this.#cache.follow(value);
    if (place.at === 'value') return place.value.pos;
    return place.at === 'branch' ? place.pos : [...place.pos, ...place.rest];
  }

  /** Makes a branch at a place, where a value may be. */
  #pass(pos: Pos): void {
    const old = this.#cache.values.get(text(pos));
    if (old === undefined) return;
    this.#over = this.#kept([old]);
    this.#cache.values.delete(text(pos));
  }

  #write(pos: Pos, wire: unknown): void {
    const old = this.#cache.values.get(text(pos));
    const isThere = old !== undefined && !this.#cache.isExpired(old);
    const { timestamp } = fieldsOf(wire, 0);
    if (isThere && timestamp !== 0 && old.timestamp !== 0 && timestamp < old.timestamp) {
      this.#cache.touch(old);
      return;
    }
    const below = this.#cache.under(pos);
    const mine = old === undefined || old.setBy !== this.id ? undefined : this.#entries.get(text(pos));
    const there = inOrder([...(old === undefined ? [] : [old]), ...below]);
    const before = mine?.before ?? (there.length === 0 ? this.#over : this.#kept(there));
    const value = this.#cache.put(pos, wire);
    value.setAt = this.#waits ? Infinity : this.sentAt;
    value.setBy = this.id;
    if (mine === undefined) this.#entries.delete(text(pos));
    this.#entries.set(text(pos), { pos, before });
  }

  #kept(values: readonly Value[]): Entry['before'] {
    return values
      .filter((value) => !this.#cache.isExpired(value) && value.setAt !== Infinity)
      .map(({ pos, wire }) => ({ pos, wire }));
  }

  #own(): { entry: Entry; value: Value }[] {
    return [...this.#entries.values()].flatMap((entry) => {
      const value = this.#cache.values.get(text(entry.pos));
      return value?.setBy === this.id ? [{ entry, value }] : [];
    });
  }

  envelope(): Envelope | undefined {
    const own = this.#own();
    if (own.length === 0) return undefined;
    const jsonGraph = {};
    for (const { value } of own)
      nest(jsonGraph, value.pos, value.wire === undefined ? { $type: 'atom' } : value.wire);
    return { jsonGraph, paths: own.map(({ value }) => value.pos) };
  }

  confirm(): void {
    this.#cache.moment += 1;
    for (const { value } of this.#own()) value.setAt = this.#cache.moment;
  }

  rollBack(): void {
    for (const { entry, value } of this.#own().toReversed()) {
      if (this.#cache.values.get(text(entry.pos)) !== value) continue;
      this.#cache.values.delete(text(entry.pos));
      for (const { pos, wire } of entry.before) if (this.#isFree(pos)) this.#cache.put(pos, wire);
    }
  }

  #isFree(pos: Pos): boolean {
    const isTaken = pos.some((_, at) => this.#cache.values.has(text(pos.slice(0, at + 1))));
    return !isTaken && !this.#cache.hasBranch(pos);
  }
}

/** Values in the order in which objects list their keys. */
function inOrder(values: readonly Value[]): Value[] {
  if (values.length < 2) return [...values];
  const graph = {};
  for (const value of values) nest(graph, value.pos, { $type: 'box', value });
  const ordered: Value[] = [];
  const walk = (branch: Record<string, unknown>): void => {
    for (const inner of Object.values(branch))
      if (isWire(inner)) ordered.push((inner as { value: Value }).value);
      else walk(inner as Record<string, unknown>);
  };
  walk(graph);
  return ordered;
}

function fieldsOf(
  wire: unknown,
  now: number,
): Pick<Value, 'wire' | 'kind' | 'value' | 'expires' | 'timestamp' | 'size'> {
  if (typeof wire !== 'object' || wire === null)
    return { wire, kind: 'atom', value: wire, expires: 1, timestamp: 0, size: bytesOf(wire) };
  if (!isWire(wire)) return fieldsOf({ $type: 'atom', value: wire }, now);
  const {
    $type,
    value,
    $expires = 1,
    $timestamp = 0,
    $size = bytesOf(value),
  } = wire as {
    $type: string;
    value?: unknown;
    $expires?: number;
    $timestamp?: number;
    $size?: number;
  };
  return {
    wire: $expires < 0 ? { ...wire, $expires: now - $expires } : wire,
    kind: $type === 'ref' || $type === 'error' ? $type : 'atom',
    value,
    expires: $expires < 0 ? now - $expires : $expires,
    timestamp: $timestamp,
    size: $size,
  };
}

function define(json: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(json, key, { value, configurable: true, enumerable: true, writable: true });
}

/** Puts a value into a graph. */
export function nest(graph: object, pos: readonly unknown[], value: unknown): void {
  let at = graph as Record<string, unknown>;
  for (const key of pos.slice(0, -1).map(String)) {
    if (!Object.hasOwn(at, key)) define(at, key, {});
    at = at[key] as Record<string, unknown>;
  }
  define(at, String(pos.at(-1)), value);
}
