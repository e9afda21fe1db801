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

  /** Removes the paths of another set, and nodes that hold none then. Returns whether there was one. */
  removeAll(other: PathTrie): boolean {
    let isLess = this.isEnd && other.isEnd;
    if (isLess) this.isEnd = false;
    for (const [key, theirs] of other.kids ?? []) {
      const kid = this.kids?.get(key);
      if (kid?.removeAll(theirs) !== true) continue;
      isLess = true;
      if (!kid.isEnd && !kid.kids?.size) this.kids?.delete(key);
    }
    return isLess;
  }

  /** Path sets that hold each path of the set once: paths that are equal but for one step share a path set. */
  pathSets(): PathSet[] {
    return tailsOf(this, new Map()).map(pathOf);
  }
}

/** End of path sets: one step, and the end after it. There is one for all that are equal. */
interface Tail {
  readonly id: number;
  readonly keySet: KeySet;
  readonly next: Tail | undefined;
}

/** Ends of the paths from a node: undefined for a path that ends here. */
function tailsOf({ isEnd, kids }: PathTrie, known: Map<string, Tail>): (Tail | undefined)[] {
  const tails: (Tail | undefined)[] = isEnd ? [undefined] : [];
  if (kids === undefined) return tails;
  const keysByTail = new Map<Tail | undefined, TrieKey[]>();
  for (const [key, kid] of kids)
    for (const tail of tailsOf(kid, known)) {
      const keys = keysByTail.get(tail);
      if (keys === undefined) keysByTail.set(tail, [key]);
      else keys.push(key);
    }
  for (const [next, keys] of keysByTail) {
    const keySet = keySetOf(keys);
    const signature = `${next?.id} ${JSON.stringify(keySet)}`;
    let tail = known.get(signature);
    if (tail === undefined) known.set(signature, (tail = { id: known.size, keySet, next }));
    tails.push(tail);
  }
  return tails;
}

function pathOf(tail: Tail | undefined): PathSet {
  const path: KeySet[] = [];
  for (let at = tail; at !== undefined; at = at.next) path.push(at.keySet);
  return path;
}
