/** Sets of single paths, as tries: joined, subtracted, and read back as the fewest path sets. */
import type { KeySet, PathSet } from '../types.js';
import { keySetOf, keysOf, normalKey } from './keys.js';

type TrieKey = string | number | null;

/** Set of paths, and node of the trie that holds them. */
export class PathTrie {
  /** Whether a path ends here. */
  isEnd = false;
  /** Paths after each key, in the order of their arrival; undefined where none was added. */
  kids: Map<TrieKey, PathTrie> | undefined;

  /** Set of the paths in the path sets. Its time and memory grow with their number: see `limitPaths`. */
  static of(pathSets: Iterable<PathSet>): PathTrie {
    const trie = new PathTrie();
    for (const pathSet of pathSets) trie.add(pathSet);
    return trie;
  }

  get isEmpty(): boolean {
    return !(this.isEnd || (this.kids?.size ?? 0) > 0);
  }

  /** Adds the paths of a path set. */
  add(pathSet: PathSet, depth = 0): void {
    if (depth === pathSet.length) {
      this.isEnd = true;
      return;
    }
    for (const key of keysOf(pathSet[depth] as KeySet)) this.#enter(normalKey(key)).add(pathSet, depth + 1);
  }

  #enter(key: TrieKey): PathTrie {
    this.kids ??= new Map();
    let kid = this.kids.get(key);
    if (kid === undefined) this.kids.set(key, (kid = new PathTrie()));
    return kid;
  }

  /** Adds the paths of another set. */
  addAll(other: PathTrie): void {
    if (other.isEnd) this.isEnd = true;
    for (const [key, kid] of other.kids ?? []) this.#enter(key).addAll(kid);
  }

  /** Removes the paths of another set, and nodes that hold none then. Returns whether there was one. */
  removeAll(other: PathTrie): boolean {
    let isLess = this.isEnd && other.isEnd;
    if (isLess) this.isEnd = false;
    for (const [key, theirs] of other.kids ?? []) {
      const kid = this.kids?.get(key);
      if (kid?.removeAll(theirs) !== true) continue;
      isLess = true;
      if (kid.isEmpty) this.kids?.delete(key);
    }
    return isLess;
  }

  /** Path sets that hold each path of the set once: paths that are equal but for one step share a path set. */
  pathSets(): PathSet[] {
    const shared: Shared = { ids: new Map(), tails: [] };
    return tailsOf(this, shared).map((id) => pathOf(shared, id));
  }
}

/** End of path sets: one step and the end after it, which is 0 for none. */
interface Tail {
  readonly keySet: KeySet;
  readonly next: number;
}

interface Shared {
  readonly ids: Map<string, number>;
  readonly tails: Tail[];
}

/** Ends of the paths from a node, as ids: 0 for a path that ends here, else one more than the place in `tails`. */
function tailsOf(trie: PathTrie, shared: Shared): number[] {
  const ids = trie.isEnd ? [0] : [];
  if (trie.kids === undefined) return ids;
  const keysByTail = new Map<number, TrieKey[]>();
  for (const [key, kid] of trie.kids)
    for (const tail of tailsOf(kid, shared)) {
      const keys = keysByTail.get(tail);
      if (keys === undefined) keysByTail.set(tail, [key]);
      else keys.push(key);
    }
  for (const [next, keys] of keysByTail) {
    // oxlint-disable-next-line require-array-sort-compare -- Numbers are sorted by keySetOf(); the rest in the order of their text.
    const keySet = keySetOf(keys.sort());
    const signature = `${next} ${JSON.stringify(keySet)}`;
    let id = shared.ids.get(signature);
    if (id === undefined) shared.ids.set(signature, (id = shared.tails.push({ keySet, next })));
    ids.push(id);
  }
  return ids;
}

function pathOf(shared: Shared, id: number): PathSet {
  const path: KeySet[] = [];
  for (let tail = shared.tails[id - 1]; tail !== undefined; tail = shared.tails[tail.next - 1])
    path.push(tail.keySet);
  return path;
}
