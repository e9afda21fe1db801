/** Cache: a tree of values with a bound on its bytes, of which the least recently used leave first. */
import {
  boundsOf,
  checkPathSet,
  countKeys,
  isRange,
  keysOf,
  maxDepth,
  normalKey,
  PathLimitError,
} from '../paths/index.js';
import type { Envelope, JsonGraph, Key, KeySet, Path, PathSet, Primitive, Sentinel } from '../types.js';
import { ReferenceLoopError } from './errors.js';
import { isEqual, isOlder, isWire, readLeaf, timestampOf, wireOf } from './leaf.js';
import { BRANCH, HOPS, type Kind, NEVER, Node, PENDING, pathOf, REF } from './node.js';
import { sizeOf } from './size.js';
import { Uses } from './uses.js';
import { Watching } from './watch.js';

/** Request whose answer is merged. */
export class Writer {
  /** Positive for local writes and calls, larger for those sent later; negative for reads, 0 for graphs that nobody waits for. */
  readonly id: number;
  /** Moment of the cache when the request was sent. */
  sentAt: number;
  /** Whether values are for those who wait, and are dropped when these have read them. */
  isOnce = false;
  /** Values to drop when the readers of the answer have read them. */
  readonly fresh: Node[] = [];

  constructor(id: number, sentAt: number) {
    this.id = id;
    this.sentAt = sentAt;
  }
}

export interface CacheOptions {
  /** Bytes that values may take before the least recently used are dropped. */
  readonly maxSize: number;
  /** Part of `maxSize` down to which values are dropped. */
  readonly collectRatio: number;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
}

/** End of a walk along a reference whose target is not there. */
export interface Lost {
  /** Deepest branch that is there. */
  node: Node;
  /** Keys below it that are not. */
  rest: readonly Key[];
}

/** Tree of values. */
export class Cache {
  readonly root = new Node(null, '', BRANCH);
  readonly watching = new Watching(this.root);
  readonly #options: CacheOptions;
  /** Grows with each change. */
  version = 0;
  /** Number of local writes, and of values that answers to writes and calls brought: what was asked for before has a smaller one. */
  moment = 0;
  /** Bytes of all leaves, where they have a bound. */
  bytes = 0;
  readonly uses: Uses;
  /** Values that had expired when they arrived, or are not to be kept, until their readers have read them. */
  readonly fresh = new Set<Node>();
  /** End of the last `follow` that returned nothing. */
  lost!: Lost;
  #hops = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.uses = new Uses(options.maxSize < Infinity);
  }

  /** Whether a leaf counts as absent. */
  isExpired(node: Node): boolean {
    const { expires } = node;
    if (expires === NEVER) return false;
    return (expires === 0 || expires <= this.#options.now()) && !this.fresh.has(node);
  }

  /** Child for a write: a branch, in place of a leaf if there was one. */
  enter(parent: Node, key: Key): Node {
    const name = String(key);
    const old = parent.kids[name];
    if (old?.kind === BRANCH) return old;
    if (old !== undefined) this.version += 1;
    // Its values are not written yet, but who watches one of them is not registered at this branch.
    this.watching.tell(parent, name);
    return this.#put(parent, name, BRANCH, old);
  }

  /** Makes a child, in place of an old one. */
  #put(parent: Node, key: string, kind: Kind, old: Node | undefined): Node {
    if (old === undefined) parent.count += 1;
    else this.#kill(old);
    return (parent.kids[key] = new Node(parent, key, kind));
  }

  /** Notes a change of a child. */
  changed(parent: Node, key: string, isQuiet = false): void {
    if (!isQuiet) this.version += 1;
    this.watching.tell(parent, key, isQuiet);
  }

  /**
   * Writes a value. A leaf keeps its node, whatever it was.
   *
   * @throws PathError for a reference whose value is no path.
   */
  write(parent: Node, key: Key, wire: Sentinel | Primitive | undefined): Node {
    const name = String(key);
    const leaf = readLeaf(wire, this.#options.now);
    const old = parent.kids[name];
    const isNew = old === undefined || old.kind === BRANCH;
    const node = isNew ? this.#put(parent, name, leaf.kind, old) : old;
    const isSame = !isNew && node.kind === leaf.kind && isEqual(leaf.kind, node.value, leaf.value);
    if (isNew) this.uses.leaves += 1;
    this.uses.touch(node);
    node.kind = leaf.kind;
    node.value = leaf.value;
    node.box = leaf.box;
    node.expires = leaf.expires;
    node.timestamp = leaf.timestamp;
    node.setAt = 0;
    node.setBy = 0;
    if (this.uses.isBounded) {
      this.bytes -= node.size;
      this.bytes += node.size = sizeOf(node);
    }
    if (this.fresh.size > 0) this.fresh.delete(node);
    if (!isSame) {
      node.target = null;
      this.changed(parent, name);
    }
    return node;
  }

  /** Takes a node and all below it out of the tree, and its parents where they are empty then. */
  remove(node: Node, isQuiet = false): void {
    let at = node;
    this.#kill(at);
    for (let parent = at.parent; parent !== null; parent = at.parent) {
      delete parent.kids[at.key];
      parent.count -= 1;
      this.changed(parent, at.key, isQuiet);
      if (parent.count > 0 || parent.parent === null) return;
      this.#kill(parent);
      at = parent;
    }
  }

  #kill(node: Node): void {
    if (node.kind === BRANCH) {
      for (const kid of kidsOf(node)) this.#kill(kid);
      this.watching.gone(node);
    } else {
      this.uses.leaves -= 1;
      this.bytes -= node.size;
    }
    node.clear();
  }

  /** Drops the least recently used leaves if they take more than the bound. */
  collect(): void {
    const { maxSize, collectRatio } = this.#options;
    if (this.bytes <= maxSize) return;
    const goal = maxSize * collectRatio;
    while (this.bytes > goal) {
      const node = this.uses.oldest();
      if (node === undefined) return;
      this.remove(node, true);
    }
  }

  /**
   * Node that a reference leads to at its end, through further references. Undefined if it is not in the cache: `lost` says from where.
   *
   * @throws ReferenceLoopError after 64 references.
   */
  follow(ref: Node): Node | undefined {
    this.#hops = 0;
    return this.#follow(ref);
  }

  #follow(ref: Node): Node | undefined {
    for (let at = ref; ;) {
      this.#hops += 1;
      if (this.#hops > HOPS) throw new ReferenceLoopError(pathOf(ref));
      const cached = at.target;
      const node = cached?.isLive === true ? cached : this.#resolve(at);
      if (node === undefined || node.kind === BRANCH) return node;
      if (this.isExpired(node)) return this.#lose(node.parent as Node, [node.key]);
      this.uses.touch(node);
      if (node.kind !== REF) return node;
      at = node;
    }
  }

  /** Node at the path of a reference, which may be a reference. */
  #resolve(ref: Node): Node | undefined {
    const path = ref.value as Path;
    let node = this.root;
    let isDirect = true;
    for (let depth = 0; depth < path.length; depth += 1) {
      const kid = node.kids[String(path[depth])];
      const isLast = depth === path.length - 1;
      if (kid === undefined || (!isLast && kid.kind !== BRANCH && this.isExpired(kid)))
        return this.#lose(node, path.slice(depth));
      node = kid;
      if (kid.kind === BRANCH || isLast) continue;
      this.uses.touch(kid);
      // A value before the end is what there is now, not where the path leads.
      if (kid.kind !== REF) return kid;
      isDirect = false;
      const target = this.#follow(kid);
      if (target === undefined)
        return this.#lose(this.lost.node, [...this.lost.rest, ...path.slice(depth + 1)]);
      if (target.kind !== BRANCH) return target;
      node = target;
    }
    if (isDirect) ref.target = node;
    return node;
  }

  #lose(node: Node, rest: readonly Key[]): undefined {
    this.lost = { node, rest };
  }

  /**
   * Nodes at a path set, through references but for one at the end. Takes time by what is there, however wide a range is and however often
   * references lead back.
   *
   * @param tells - Whether to tell subscriptions to values on the way that are not there, such as those that expired at once.
   * @throws ReferenceLoopError where references lead to each other.
   */
  find(pathSet: PathSet, tells = false): Set<Node> {
    let found = new Set([this.root]);
    for (let depth = 0; depth < pathSet.length; depth += 1) {
      const keySet = pathSet[depth] as KeySet;
      const isLast = depth === pathSet.length - 1;
      if (isLast && keySet === null) break;
      const kids = new Set<Node>();
      for (const node of found) {
        for (const name of namesIn(keySet, node)) {
          const kid = node.kids[name];
          const next =
            kid === undefined
              ? this.#lose(node, [name])
              : isLast || kid.kind !== REF
                ? kid
                : this.follow(kid);
          if (next !== undefined) kids.add(next);
          else if (tells) this.watching.tell(this.lost.node, String(this.lost.rest[0]));
        }
      }
      found = kids;
    }
    return found;
  }

  /**
   * Takes an envelope from a data source.
   *
   * @throws PathLimitError for a graph of more than 256 levels; PathError for a reference whose value is no path.
   */
  merge(envelope: Envelope, writer: Writer): void {
    const invalidated = envelope.invalidated?.map(checkPathSet) ?? [];
    for (const node of invalidated.flatMap((pathSet) => [...this.find(pathSet, true)]))
      if (node.parent === null) for (const kid of kidsOf(node)) this.remove(kid);
      else if (node.isLive) this.remove(node);
    this.#mergeInto(this.root, envelope.jsonGraph, writer, 0);
  }

  #mergeInto(parent: Node, graph: JsonGraph, writer: Writer, depth: number, keys = Object.keys(graph)): void {
    if (depth === maxDepth) throw new PathLimitError(`Levels are over the limit of ${maxDepth}`);
    for (const key of keys) {
      const value = graph[key];
      if (value === undefined) continue;
      const old = parent.kids[key];
      if (isWire(value)) this.#mergeLeaf(parent, key, old, value, writer);
      else {
        const inner = Object.keys(value);
        if (inner.length === 0) continue;
        if (old !== undefined && old.kind !== BRANCH && !this.isExpired(old) && isNewer(old, writer))
          continue;
        const branch = this.enter(parent, key);
        try {
          this.#mergeInto(branch, value, writer, depth + 1, inner);
        } finally {
          if (branch.count === 0) {
            // Not by remove(), which would take empty parents out that are being filled.
            delete parent.kids[key];
            parent.count -= 1;
            branch.clear();
          }
        }
      }
    }
  }

  #mergeLeaf(
    parent: Node,
    key: string,
    old: Node | undefined,
    wire: Sentinel | Primitive,
    writer: Writer,
  ): void {
    if (old !== undefined) {
      if (old.kind === BRANCH || !this.isExpired(old)) {
        const time = timestampOf(wire);
        if (isOlder(time, old.timestamp)) return;
        if (isNewer(old, writer) && (writer.isOnce || !isOlder(old.timestamp, time))) return;
      }
    }
    const node = this.write(parent, key, wire);
    if (writer.id > 0) {
      this.moment += 1;
      node.setAt = this.moment;
      node.setBy = writer.id;
    }
    if (writer.id !== 0 && (writer.isOnce || this.isExpired(node))) {
      node.setBy = writer.id;
      this.fresh.add(node);
      writer.fresh.push(node);
    }
  }

  /** Drops values of an answer that were to be read once, but for those that were written again since. */
  drop(writer: Writer): void {
    for (const node of writer.fresh.splice(0)) {
      if (node.setBy !== writer.id) continue;
      this.fresh.delete(node);
      // Expired values leave unheard: a listener that asks again would ask without end.
      if (node.isLive) this.remove(node, this.isExpired(node));
    }
  }

  /** The branch, or the whole cache, as JSON Graph without what has expired. */
  export(node = this.root): JsonGraph {
    const graph: Record<string, JsonGraph | Sentinel | Primitive | undefined> = Object.create(null) as never;
    for (const [key, kid] of Object.entries(node.kids as Record<string, Node>))
      if (kid.kind === BRANCH) graph[key] = this.export(kid);
      else if (!this.isExpired(kid)) graph[key] = wireOf(kid);
    return graph;
  }
}

/**
 * Whether a local write or a call made the node, or one below it, after the request was sent. To the answer of a write or call, only those
 * sent later and writes without an answer are newer. For an answer that is read once, all that is there counts as newer.
 */
function isNewer(node: Node, writer: Writer): boolean {
  if (node.kind === BRANCH) return kidsOf(node).some((kid) => isNewer(kid, writer));
  const { setAt, setBy } = node;
  if (writer.isOnce || setAt === PENDING) return setBy !== writer.id;
  return setAt > writer.sentAt && setBy > writer.id;
}

function kidsOf(node: Node): Node[] {
  return Object.values(node.kids) as Node[];
}

/** Names that a key set has; of a range that is wider than what a node has or what is watched there, those that are. */
function* namesIn(keySet: KeySet, { kids, count, watchers }: Node): Generator<string> {
  for (const part of [keySet].flat())
    if (isRange(part) && countKeys(part) > count + (watchers?.size ?? 0)) {
      const { from, to } = boundsOf(part);
      for (const name of [...Object.keys(kids), ...(watchers?.keys() ?? [])]) {
        const key = normalKey(name);
        if (typeof key === 'number' && key >= from && key <= to) yield name;
      }
    } else for (const key of keysOf(part)) yield String(key);
}
