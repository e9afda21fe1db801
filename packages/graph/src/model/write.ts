/** Local writes: through references, and back if the data source refuses them. */
import { collapsePaths, countKeys, keysOf } from '../paths/index.js';
import type { Envelope, GraphValue, JsonGraph, Key, Path, PathSet, Primitive, Sentinel } from '../types.js';
import type { Cache, Writer } from './cache.js';
import { isOlder, timestampOf, wireOf } from './leaf.js';
import { BRANCH, type Node, pathOf, REF } from './node.js';

/** Value that was written, and what was there before. */
interface Entry {
  readonly leaf: Node;
  readonly before: Before;
  /** Value in place of which a branch was made for the leaf, if there was one. */
  readonly over: { readonly path: Path; readonly wire: Sentinel | Primitive | undefined } | undefined;
}

type Before =
  | { readonly is: 'nothing' }
  | { readonly is: 'value'; readonly wire: Sentinel | Primitive | undefined }
  | { readonly is: 'branch'; readonly graph: JsonGraph };

const NOTHING: Before = { is: 'nothing' };

/** Values that one call of `set` writes. */
export class Write implements Writer {
  readonly id: number;
  readonly isOnce = false;
  readonly fresh: Node[] = [];
  readonly sentAt: number;
  readonly #cache: Cache;
  /** Whether the data source has yet to answer. */
  readonly #waits: boolean;
  readonly #entries = new Map<Node, Entry>();
  #over: Entry['over'];

  constructor(cache: Cache, id: number, waits: boolean) {
    this.#cache = cache;
    this.id = id;
    this.#waits = waits;
    this.sentAt = cache.nextMoment();
  }

  /**
   * Writes a value at the paths of a path set below a node.
   *
   * @throws ReferenceLoopError where references lead to each other.
   */
  set(start: Node, pathSet: PathSet, value: GraphValue | object): void {
    // A set without paths must leave no branches behind.
    if (pathSet.length === 0 || !pathSet.every((keySet) => countKeys(keySet) > 0)) return;
    this.#walk(start, pathSet, 0, value as Sentinel | Primitive | undefined);
  }

  #walk(node: Node, pathSet: PathSet, depth: number, wire: Sentinel | Primitive | undefined): void {
    const isLast = depth === pathSet.length - 1;
    const followsLast = depth === pathSet.length - 2 && pathSet[depth + 1] === null;
    for (const key of keysOf(pathSet[depth] as Key)) {
      if (isLast) this.#write(node, key, wire);
      else if (followsLast) {
        const [parent, name] = this.#placeOf(node, key);
        this.#write(parent, name, wire);
      } else this.#walk(this.#branchAt(node, key), pathSet, depth + 1, wire);
      if (!node.isLive) return;
    }
  }

  /** Place that a child stands for: its own, or the one that it refers to, up to which branches are made. */
  #placeOf(node: Node, key: Key): [Node, Key] {
    const kid = node.kids[String(key)];
    if (kid?.kind !== REF || this.#cache.isExpired(kid)) return [node, key];
    const target = this.#cache.follow(kid);
    if (target !== undefined) return target.parent === null ? [node, key] : [target.parent, target.key];
    const { node: deepest, rest } = this.#cache.lost;
    let parent = deepest;
    for (const step of rest.slice(0, -1)) parent = this.#enter(parent, step);
    return [parent, rest.at(-1) as Key];
  }

  #branchAt(node: Node, key: Key): Node {
    const kid = node.kids[String(key)];
    if (kid?.kind === REF && (kid.value as Path).length === 0) return this.#cache.root;
    const [parent, name] = this.#placeOf(node, key);
    return this.#enter(parent, name);
  }

  #enter(parent: Node, key: Key): Node {
    const old = parent.kids[String(key)];
    if (old !== undefined && old.kind !== BRANCH) {
      const isKept = !this.#cache.isExpired(old) && old.setAt !== Infinity;
      if (isKept) this.#over = { path: pathOf(old), wire: wireOf(old) };
    }
    return this.#cache.enter(parent, key);
  }

  #write(parent: Node, key: Key, wire: Sentinel | Primitive | undefined): void {
    const old = parent.kids[String(key)];
    const isThere = old !== undefined && (old.kind === BRANCH || !this.#cache.isExpired(old));
    if (isThere && isOlder(timestampOf(wire), old.timestamp)) {
      this.#cache.touch(old);
      return;
    }
    const mine = old === undefined ? undefined : this.#entries.get(old);
    const before = mine?.before ?? (isThere ? this.#beforeOf(old) : NOTHING);
    const leaf = this.#cache.write(parent, key, wire);
    const over = this.#over !== undefined && isBelow(leaf, this.#over.path) ? this.#over : undefined;
    this.#entries.set(leaf, { leaf, before, over: mine === undefined ? over : mine.over });
    leaf.setAt = this.#waits ? Infinity : this.sentAt;
    leaf.setBy = this.id;
  }

  /** State to return to. A value whose own write is not answered yet is none. */
  #beforeOf(old: Node): Before {
    if (old.kind === BRANCH) return { is: 'branch', graph: this.#cache.export(old) };
    return old.setAt === Infinity ? NOTHING : { is: 'value', wire: wireOf(old) };
  }

  /** Values that were written and are still there, as the data source takes them; undefined if there are none. */
  envelope(): Envelope | undefined {
    const leaves = this.#own();
    if (leaves.length === 0) return undefined;
    const jsonGraph: JsonGraph = Object.create(null) as JsonGraph;
    const paths = leaves.map(({ leaf }) => pathOf(leaf));
    for (const { leaf } of leaves) nest(jsonGraph, pathOf(leaf), wireOf(leaf));
    return { jsonGraph, paths: collapsePaths(paths, Infinity) };
  }

  #own(): Entry[] {
    return [...this.#entries.values()].filter(({ leaf }) => leaf.isLive && leaf.setBy === this.id);
  }

  /** Ends the wait for the data source: the values are as it has answered. */
  confirm(): void {
    const moment = this.#cache.nextMoment();
    for (const { leaf } of this.#own()) leaf.setAt = moment;
  }

  /** Restores what was there before, but for what was written again since. */
  rollBack(): void {
    for (const { leaf, before, over } of this.#own().toReversed()) {
      if (!leaf.isLive) continue;
      const path = pathOf(leaf);
      if (before.is === 'value') {
        this.#cache.write(leaf.parent as Node, leaf.key, before.wire);
        continue;
      }
      this.#cache.remove(leaf);
      if (before.is === 'branch') this.#restore(path, before.graph);
      if (over !== undefined) this.#restore(over.path, over.wire);
    }
  }

  #restore(path: Path, value: JsonGraph | GraphValue): void {
    let node = this.#cache.root;
    for (const key of path) {
      const kid = node.kids[String(key)];
      if (kid === undefined) break;
      if (kid.kind !== BRANCH) return;
      node = kid;
    }
    if (pathOf(node).length === path.length) return;
    const jsonGraph: JsonGraph = Object.create(null) as JsonGraph;
    nest(jsonGraph, path, value);
    this.#cache.merge({ jsonGraph }, { id: 0, sentAt: Infinity, isOnce: false, fresh: [] });
  }
}

function isBelow(leaf: Node, path: Path): boolean {
  const own = pathOf(leaf);
  return own.length > path.length && path.every((key, at) => own[at] === key);
}

/** Puts a value into a graph whose branches have no prototype. */
function nest(graph: JsonGraph, path: Path, value: JsonGraph | GraphValue): void {
  let branch = graph as Record<string, JsonGraph | GraphValue>;
  for (const key of path.slice(0, -1))
    branch = (branch[String(key)] ??= Object.create(null) as JsonGraph) as typeof branch;
  // Undefined is not written in JSON.
  branch[String(path.at(-1))] = value === undefined ? { $type: 'atom' } : value;
}
