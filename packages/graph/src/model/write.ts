/** Local writes: through references, and back if the data source refuses them. */
import { collapse, countKeys, keysOf } from '../paths/index.js';
import type { Envelope, GraphValue, JsonGraph, Key, Path, PathSet, Primitive, Sentinel } from '../types.js';
import { type Cache, Writer } from './cache.js';
import { isOlder, timestampOf, wireOf } from './leaf.js';
import type { PathErrorValue } from './errors.js';
import { BRANCH, ERROR, type Node, PENDING, pathOf, REF } from './node.js';

/** Value at a place. */
type Placed = readonly [path: Path, wire: Sentinel | Primitive | undefined];

/** Values that one call of `set` writes. */
export class Write extends Writer {
  readonly #cache: Cache;
  /** Whether the data source has yet to answer. */
  readonly #waits: boolean;
  /** Leaves that were written, each with the values in place of which it is. */
  readonly #entries = new Map<Node, readonly Placed[]>();
  /** Leaves that are errors as the app has written them. */
  readonly #ownErrors = new Set<Node>();
  /** Value in place of which a branch of the path was made. */
  #over: readonly Placed[] = [];

  constructor(cache: Cache, id: number, waits: boolean) {
    cache.moment += 1;
    super(id, cache.moment);
    this.#cache = cache;
    this.#waits = waits;
  }

  /**
   * Writes a value at the paths of a path set below a node.
   *
   * @throws ReferenceLoopError where references lead to each other.
   */
  set(start: Node, pathSet: PathSet, value: GraphValue | object): void {
    // A set without paths must leave no branches behind.
    if (pathSet.length === 0 || !pathSet.every((keySet) => countKeys(keySet) > 0)) return;
    this.#over = [];
    this.#walk(start, pathSet, 0, value as Sentinel | Primitive | undefined);
  }

  #walk(node: Node, pathSet: PathSet, depth: number, wire: Sentinel | Primitive | undefined): void {
    const isLast = depth === pathSet.length - 1;
    const followsLast = depth === pathSet.length - 2 && pathSet[depth + 1] === null;
    const over = this.#over;
    for (const key of keysOf(pathSet[depth] as Key)) {
      this.#over = over;
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
    if (old !== undefined && old.kind !== BRANCH) this.#over = this.#placed(old);
    return this.#cache.enter(parent, key);
  }

  #write(parent: Node, key: Key, wire: Sentinel | Primitive | undefined): void {
    const old = parent.kids[String(key)];
    const isThere = old !== undefined && (old.kind === BRANCH || !this.#cache.isExpired(old));
    if (isThere && isOlder(timestampOf(wire), old.timestamp)) {
      this.#cache.uses.touch(old);
      return;
    }
    const over = old === undefined ? this.#over : this.#placed(old);
    const before = (old === undefined ? undefined : this.#entries.get(old)) ?? over;
    const leaf = this.#cache.write(parent, key, wire);
    this.#entries.set(leaf, before);
    if (leaf.kind === ERROR) this.#ownErrors.add(leaf);
    leaf.setAt = this.#waits ? PENDING : this.sentAt;
    leaf.setBy = this.id;
  }

  /** Values at and below a node. Those whose own write is not answered yet are none to return to. */
  #placed(node: Node): readonly Placed[] {
    if (node.kind === BRANCH) return Object.values(node.kids).flatMap((kid) => this.#placed(kid as Node));
    return this.#cache.isExpired(node) || node.setAt === PENDING ? [] : [[pathOf(node), wireOf(node)]];
  }

  /** Values that were written and are still there, as the data source takes them; undefined if there are none. */
  envelope(): Envelope | undefined {
    const leaves = this.#own();
    if (leaves.length === 0) return undefined;
    const jsonGraph: JsonGraph = Object.create(null) as JsonGraph;
    for (const leaf of leaves) nest(jsonGraph, pathOf(leaf), wireOf(leaf));
    return { jsonGraph, paths: collapse(leaves.map(pathOf)) };
  }

  #own(): Node[] {
    return [...this.#entries.keys()].filter((leaf) => leaf.isLive && leaf.setBy === this.id);
  }

  /** Ends the wait for the data source, if there was one: the values are as it has answered. */
  confirm(): void {
    this.#cache.moment += 1;
    for (const leaf of this.#own()) leaf.setAt = this.#cache.moment;
  }

  /** Restores the values that the data source has answered with errors. Returns these. */
  takeBackRefused(): readonly PathErrorValue[] {
    const errors: PathErrorValue[] = [];
    for (const leaf of this.#own()) {
      if (leaf.kind !== ERROR || this.#ownErrors.has(leaf)) continue;
      const path = pathOf(leaf);
      errors.push({ path, value: leaf.value });
      this.#takeBack(leaf);
    }
    return errors;
  }

  /** Restores what was there before, but for what was written again since. */
  rollBack(): void {
    for (const leaf of this.#own().toReversed()) this.#takeBack(leaf);
  }

  #takeBack(leaf: Node): void {
    this.#cache.remove(leaf);
    for (const [path, wire] of this.#entries.get(leaf) ?? []) this.#restore(path, wire);
  }

  /** Writes a value if nothing has taken its place. */
  #restore(path: Path, wire: Sentinel | Primitive | undefined): void {
    let node = this.#cache.root;
    for (const key of path.slice(0, -1)) {
      if ((node.kids[String(key)]?.kind ?? BRANCH) !== BRANCH) return;
      node = this.#cache.enter(node, key);
    }
    const last = path.at(-1) as Key;
    if (node.kids[String(last)] === undefined) this.#cache.write(node, last, wire);
  }
}

/** Puts a value into a graph whose branches have no prototype. */
function nest(graph: JsonGraph, path: Path, value: GraphValue): void {
  let branch = graph as Record<string, JsonGraph | GraphValue>;
  for (const key of path.slice(0, -1))
    branch = (branch[String(key)] ??= Object.create(null) as JsonGraph) as typeof branch;
  // Undefined is not written in JSON.
  branch[String(path.at(-1))] = value === undefined ? { $type: 'atom' } : value;
}
