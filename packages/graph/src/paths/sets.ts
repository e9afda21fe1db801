/** Path sets as lists of paths, and back. */
import type { Key, KeySet, Path, PathSet } from '../types.js';
import { limitPaths } from './check.js';
import { keySetOf, keysOf, normalKey } from './keys.js';
import { maxPaths } from './limits.js';
import { PathTrie } from './trie.js';

/**
 * Single paths of the path sets, one after the other; each is a new array.
 *
 * @throws PathLimitError before the first if there are more than `limit`.
 */
export function* expandPaths(pathSets: readonly PathSet[], limit = maxPaths): Generator<Path> {
  limitPaths(pathSets, limit);
  for (const pathSet of pathSets) yield* expand(pathSet, 0, []);
}

function* expand(pathSet: PathSet, depth: number, prefix: readonly Key[]): Generator<Path> {
  if (depth === pathSet.length) {
    yield prefix;
    return;
  }
  for (const key of keysOf(pathSet[depth] as KeySet)) yield* expand(pathSet, depth + 1, [...prefix, key]);
}

/**
 * The same paths in as few path sets as merging steps gives, each path once.
 *
 * @throws PathLimitError if there are more than `limit`.
 */
export function collapsePaths(pathSets: readonly PathSet[], limit = maxPaths): PathSet[] {
  limitPaths(pathSets, limit);
  return PathTrie.of(pathSets).pathSets();
}

/** The same for path sets without empty key sets whose number of paths was checked. The shortest come first. */
export function collapse(pathSets: readonly PathSet[]): PathSet[] {
  // Path sets of different lengths have nothing in common.
  const collapsed =
    new Set(pathSets.map(({ length }) => length)).size === pathSets.length
      ? pathSets.map((pathSet) => pathSet.map(normal))
      : PathTrie.of(pathSets).pathSets();
  // In one order, as reads compare what they ask for.
  return collapsed.sort((one, other) => one.length - other.length);
}

function normal(keySet: KeySet): KeySet {
  return keySetOf([...new Set(Array.from(keysOf(keySet), normalKey))]);
}

/**
 * Paths of the first path sets that the second do not hold.
 *
 * @throws PathLimitError if either has more than `limit`.
 */
export function subtractPaths(
  pathSets: readonly PathSet[],
  others: readonly PathSet[],
  limit = maxPaths,
): PathSet[] {
  limitPaths(pathSets, limit);
  limitPaths(others, limit);
  const trie = PathTrie.of(pathSets);
  trie.removeAll(PathTrie.of(others));
  return trie.pathSets();
}
