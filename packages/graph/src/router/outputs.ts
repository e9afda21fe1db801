/** Results of handlers, read and written into the graph of a request. Values of paths that nobody asked for are refused. */
import { countPaths, toPathSet } from '../paths/index.js';
import type { PathInput } from '../types.js';
import { routeError, type RouteError } from './errors.js';
import { branchAt, leafOf, putShort, type Branch } from './graph.js';
import { Merge, type Notes } from './merge.js';
import type { RoutePart, RouteParts } from './route.js';
import { listOf, plainKey, plainKeys, type Keys, type PlainKey, type Sets } from './sets.js';

/** Bounds the keys of a step that are searched one by one. */
const SEARCHED_MAX = 16;
/** Bounds the written paths that are noted one by one. */
const NOTED_MAX = 16;

/** Receiver of the reasons why parts of a result were not taken. */
export interface Refusing {
  refuse(error: RouteError): void;
}

export interface OutputLimits {
  readonly pathsMax: number;
  readonly depthMax: number;
}

/** Writes the results of handlers within the paths that they were called for. */
export class Outputs implements Notes {
  readonly #graph: Branch;
  readonly #limits: OutputLimits;
  /** Sets of the long key lists of this request. */
  readonly #members = new Map<readonly PlainKey[], ReadonlySet<PlainKey>>();
  /** Paths that got values, where somebody asks for them. */
  readonly #written: Sets[] | undefined;

  /** `isNoting`: whether written paths are noted. */
  constructor(graph: Branch, limits: OutputLimits, isNoting = false) {
    this.#graph = graph;
    this.#limits = limits;
    if (isNoting) this.#written = [];
  }

  /** Returns the paths that the latest results wrote, or all that they were for where they wrote many. */
  writtenOf(pieces: readonly Sets[]): readonly Sets[] {
    const written = this.#written?.splice(0) ?? [];
    return written.length > NOTED_MAX ? pieces : written;
  }

  note(path: Sets): void {
    if (this.#written !== undefined && this.#written.length <= NOTED_MAX) this.#written.push(path);
  }

  /** Takes one result, which may throw where its properties do. */
  take(output: RouteParts, pieces: readonly Sets[], refusing: Refusing): void {
    if (Array.isArray(output)) {
      for (const part of output as readonly RoutePart[]) this.#part(part, pieces, refusing);
    } else this.#part(output as RoutePart, pieces, refusing);
  }

  #part(part: RoutePart, pieces: readonly Sets[], refusing: Refusing): void {
    if (part === undefined || part === null) return;
    if (typeof part !== 'object')
      refusing.refuse(routeError('SLU-GRAPH-VALUE', `A handler gave a ${typeof part}`));
    else if ('jsonGraph' in part) this.graph(part.jsonGraph, pieces, refusing);
    else if ('path' in part && 'value' in part) this.#value(part.path, part.value, pieces, refusing);
    else
      refusing.refuse(
        routeError('SLU-GRAPH-VALUE', 'A handler returned neither { path, value } nor { jsonGraph }'),
      );
  }

  /** Copies values of a message along the paths. */
  graph(message: unknown, pieces: readonly Sets[], refusing: Refusing): void {
    if (typeof message !== 'object' || message === null) {
      refusing.refuse(routeError('SLU-GRAPH-VALUE', 'A `jsonGraph` must be an object'));
      return;
    }
    const merge = new Merge(
      this.#limits.depthMax,
      (reason, path) => refusing.refuse(refusal(reason, path)),
      this.#written === undefined ? undefined : this,
    );
    for (const piece of pieces) merge.graph(this.#graph, message, piece);
  }

  #value(input: PathInput, value: unknown, pieces: readonly Sets[], refusing: Refusing): void {
    const path = typeof input === 'string' ? toPathSet(input) : input;
    if (!Array.isArray(path) || path.length === 0 || path.length > this.#limits.depthMax) {
      refusing.refuse(routeError('SLU-GRAPH-VALUE', 'A handler returned a value without a path'));
      return;
    }
    const leaf = leafOf(value, this.#limits.depthMax);
    const isSingle = path.every(isPlain);
    const keys = isSingle ? path.map(plainKey) : [];
    if (leaf === undefined) refusing.refuse(refusal('The value is not JSON Graph', path));
    else if (isSingle) {
      if (!this.#write(keys, leaf, pieces)) refusing.refuse(astray(keys));
    } else if (countPaths([path]) > this.#limits.pathsMax)
      refusing.refuse(routeError('SLU-GRAPH-VALUE', 'A handler returned a value for too many paths'));
    else {
      for (const single of singles(path.map(plainKeys))) {
        if (!this.#write(single, leaf, pieces)) refusing.refuse(astray(single));
      }
    }
  }

  /** Whether the path, or paths below it, were asked for. */
  #write(path: readonly PlainKey[], leaf: ReturnType<typeof leafOf>, pieces: readonly Sets[]): boolean {
    let isAsked = false;
    for (const piece of pieces) {
      if (path.length > piece.length || !this.#isWithin(path, piece)) continue;
      isAsked = true;
      if (leaf !== undefined) {
        writeAt(this.#graph, path, leaf, piece);
        if (this.#written !== undefined) this.note([...path, ...piece.slice(path.length)]);
      }
      if (path.length === piece.length) break;
    }
    return isAsked;
  }

  #isWithin(path: readonly PlainKey[], sets: Sets): boolean {
    for (let step = 0; step < path.length; step++) {
      const key = path[step] as PlainKey;
      const keys = sets[step] as Keys;
      if (!this.has(keys, key)) return false;
    }
    return true;
  }

  /** Whether a key is one of a step's. */
  has(keys: Keys, key: PlainKey): boolean {
    if (typeof keys !== 'object') return keys === key;
    return keys.length <= SEARCHED_MAX ? keys.includes(key) : this.#membersOf(keys).has(key);
  }

  #membersOf(keys: readonly PlainKey[]): ReadonlySet<PlainKey> {
    let members = this.#members.get(keys);
    if (members === undefined) {
      members = new Set(keys);
      this.#members.set(keys, members);
    }
    return members;
  }
}

/** Writes a value at a path, or for the paths of the sets below it. */
export function writeAt(
  graph: Branch,
  path: readonly PlainKey[],
  leaf: Exclude<ReturnType<typeof leafOf>, undefined>,
  sets: Sets,
): void {
  const last = path.length - 1;
  let branch = graph;
  for (let step = 0; step < last; step++) {
    const next = branchAt(branch, path[step] as PlainKey);
    if (next === undefined) return;
    branch = next;
  }
  const key = path[last] as PlainKey;
  if (path.length === sets.length) branch[key] = leaf;
  else putShort(branch, key, leaf, sets, last);
}

/** Single paths of sets, whose number is bounded. */
export function singles(sets: Sets): PlainKey[][] {
  let paths: PlainKey[][] = [[]];
  for (const keys of sets) {
    paths =
      typeof keys === 'object'
        ? paths.flatMap((path) => listOf(keys).map((key) => [...path, key]))
        : paths.map((path) => [...path, keys]);
  }
  return paths;
}

function isPlain(keySet: unknown): boolean {
  return typeof keySet !== 'object' || keySet === null;
}

function refusal(reason: string, path: readonly unknown[]): RouteError {
  return routeError('SLU-GRAPH-VALUE', `${reason}: ${JSON.stringify(path)}`);
}

function astray(path: readonly PlainKey[]): RouteError {
  return routeError('SLU-GRAPH-ASTRAY', `The path was not requested: ${JSON.stringify(path)}`);
}
