/**
 * Routes as a tree by the kinds of their keys. The longest route that matches the first steps of a path answers it. Among routes of
 * one length, literal keys precede integers and ranges, and those precede `{keys}`, from the first step on. It must not know graphs.
 */
import type { RouteStep } from './syntax.js';
import { listOf, keysOf, split, type Keys, type PlainKey, type Sets } from './sets.js';

/** Methods of data sources. */
export type Method = 'get' | 'set' | 'call';

/** Part of a route that the tree reads. */
export interface Routed {
  readonly text: string;
  readonly steps: readonly RouteStep[];
  readonly methods: ReadonlySet<Method>;
}

/** Paths of one route: `sets` are whole, and the route matches their first steps. */
export interface Piece<Route> {
  readonly route: Route;
  readonly method: Method;
  readonly sets: Sets;
}

interface Node<Route> {
  readonly literals: Map<PlainKey, Node<Route>>;
  readonly integers: Node<Route> | undefined;
  readonly keys: Node<Route> | undefined;
  readonly ends: Partial<Record<Method, Route>>;
}

interface Candidate<Route> {
  readonly route: Route;
  readonly method: Method;
  readonly region: Sets;
  /** One character a step; the greater text precedes where lengths are equal. */
  readonly rank: string;
}

const LITERAL = '2';
const INTEGERS = '1';
const KEYS = '0';

export class Trie<Route extends Routed> {
  readonly #root: Node<Route>;

  /** Throws where two routes have the same paths and a method in common. */
  constructor(routes: readonly Route[]) {
    this.#root = nodeOf(routes, 0);
  }

  /** Splits a path set by routes. Paths that no route matches are added to `unhandled`. */
  match(sets: Sets, method: Method, unhandled: Sets[]): Piece<Route>[] {
    const candidates: Candidate<Route>[] = [];
    collect(this.#root, sets, method, [], '', candidates);
    if (candidates.length > 1) candidates.sort(byPrecedence);
    const pieces: Piece<Route>[] = [];
    let rest: Sets[] = [sets];
    for (const { route, method: own, region } of candidates) {
      const next: Sets[] = [];
      for (const one of rest) {
        const parts = split(one, region);
        if (parts === undefined) next.push(one);
        else {
          pieces.push({ route, method: own, sets: parts[0] });
          next.push(...parts[1]);
        }
      }
      rest = next;
      if (rest.length === 0) break;
    }
    unhandled.push(...rest);
    return pieces;
  }
}

function byPrecedence<Route>(one: Candidate<Route>, other: Candidate<Route>): number {
  if (one.rank.length !== other.rank.length) return other.rank.length - one.rank.length;
  return one.rank < other.rank ? 1 : one.rank > other.rank ? -1 : 0;
}

/** Literal keys that the same routes have lead to one node, so that one candidate has them all. */
function nodeOf<Route extends Routed>(routes: readonly Route[], depth: number): Node<Route> {
  const ends: Partial<Record<Method, Route>> = {};
  const byKey = new Map<PlainKey, Route[]>();
  const integers: Route[] = [];
  const keys: Route[] = [];
  for (const route of routes) {
    const step = route.steps[depth];
    if (step === undefined) {
      for (const method of route.methods) {
        const other = ends[method];
        if (other !== undefined)
          throw new Error(`The routes ${other.text} and ${route.text} have the same paths for ${method}`);
        ends[method] = route;
      }
    } else if (step.kind === 'literal') {
      for (const key of step.keys) {
        const same = byKey.get(key);
        if (same === undefined) byKey.set(key, [route]);
        else same.push(route);
      }
    } else (step.kind === 'keys' ? keys : integers).push(route);
  }
  const literals = new Map<PlainKey, Node<Route>>();
  const shared = new Map<string, Node<Route>>();
  const ids = new Map(routes.map((route, index) => [route, index]));
  for (const [key, same] of byKey) {
    const token = same.map((route) => ids.get(route)).join();
    let node = shared.get(token);
    if (node === undefined) {
      node = nodeOf(same, depth + 1);
      shared.set(token, node);
    }
    literals.set(key, node);
  }
  return {
    literals,
    integers: integers.length === 0 ? undefined : nodeOf(integers, depth + 1),
    keys: keys.length === 0 ? undefined : nodeOf(keys, depth + 1),
    ends,
  };
}

function collect<Route extends Routed>(
  node: Node<Route>,
  sets: Sets,
  method: Method,
  region: Keys[],
  rank: string,
  candidates: Candidate<Route>[],
): void {
  const depth = region.length;
  const own = ownMethod(node, method, depth === sets.length);
  const route = own === undefined ? undefined : node.ends[own];
  if (own !== undefined && route !== undefined)
    candidates.push({ route, method: own, region: [...region], rank });
  if (depth === sets.length) return;
  const keys = sets[depth] as Keys;
  if (node.literals.size > 0) {
    for (const [next, found] of literalsOf(node, keys))
      descend(next, found, sets, method, region, rank + LITERAL, candidates);
  }
  if (node.integers !== undefined) {
    const found = integersOf(keys);
    if (found !== undefined) descend(node.integers, found, sets, method, region, rank + INTEGERS, candidates);
  }
  if (node.keys !== undefined) descend(node.keys, keys, sets, method, region, rank + KEYS, candidates);
}

function descend<Route extends Routed>(
  node: Node<Route>,
  keys: Keys,
  sets: Sets,
  method: Method,
  region: Keys[],
  rank: string,
  candidates: Candidate<Route>[],
): void {
  region.push(keys);
  collect(node, sets, method, region, rank, candidates);
  region.pop();
}

/** References on the way are read; only whole paths are set and called. Routes that cannot set a path give its value. */
function ownMethod<Route>(node: Node<Route>, method: Method, isWhole: boolean): Method | undefined {
  if (method === 'get' || !isWhole) return 'get';
  return method === 'set' && node.ends.set === undefined ? 'get' : method;
}

function literalsOf<Route>({ literals }: Node<Route>, keys: Keys): Iterable<[Node<Route>, Keys]> {
  if (typeof keys !== 'object') {
    const next = literals.get(keys);
    return next === undefined ? [] : [[next, keys]];
  }
  const found = new Map<Node<Route>, PlainKey[]>();
  for (const key of keys) {
    const next = literals.get(key);
    if (next === undefined) continue;
    const same = found.get(next);
    if (same === undefined) found.set(next, [key]);
    else same.push(key);
  }
  const [only] = found;
  // The whole list stays the same object, which later comparisons are quick with.
  if (only?.[1].length === keys.length) return [[only[0], keys]];
  return [...found].map(([next, same]): [Node<Route>, Keys] => [next, keysOf(same)]);
}

function integersOf(keys: Keys): Keys | undefined {
  if (typeof keys === 'number') return keys;
  if (typeof keys === 'string') return undefined;
  const found = listOf(keys).filter((key) => typeof key === 'number');
  if (found.length === 0) return undefined;
  return found.length === keys.length ? keys : keysOf(found);
}
