/** Checks of path sets: their form, and the work that they ask for. */
import type { Key, Path, PathInput, PathSet } from '../types.js';
import { boundsOf, countKeys, isRange } from './keys.js';
import { maxDepth, PathError, PathLimitError } from './limits.js';
import { parsePath } from './syntax.js';

/** Whether a value is a key. */
export function isKey(value: unknown): value is Key {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function checkPart(part: unknown): void {
  if (isRange(part)) boundsOf(part);
  else if (!isKey(part)) throw new PathError('A key is text, a number, a boolean or null');
}

/**
 * The value as a path set.
 *
 * @throws PathError if it is none; PathLimitError if it has more than 256 steps.
 */
export function checkPathSet(value: unknown): PathSet {
  if (!Array.isArray(value)) throw new PathError('A path is a list of keys');
  if (value.length > maxDepth)
    throw new PathLimitError(`${value.length} keys are over the limit of ${maxDepth}`);
  for (const keySet of value as unknown[])
    if (Array.isArray(keySet)) keySet.forEach(checkPart);
    else checkPart(keySet);
  return value as PathSet;
}

/**
 * Path set of the text or the list.
 *
 * @throws PathError if it is none; PathLimitError if it has more than 256 steps.
 */
export function toPathSet(input: PathInput): PathSet {
  return checkPathSet(typeof input === 'string' ? parsePath(input) : input);
}

/**
 * Path of the text or the list.
 *
 * @throws PathError if it is none, or has more than one key at a step.
 */
export function toPath(input: PathInput): Path {
  const pathSet = toPathSet(input);
  if (!pathSet.every(isKey)) throw new PathError('A path has one key at each step');
  return pathSet;
}

/** Number of single paths in the path sets. A path that stands in them twice counts twice. */
export function countPaths(pathSets: readonly PathSet[]): number {
  return pathSets.reduce((sum, pathSet) => sum + countOf(pathSet), 0);
}

function countOf(pathSet: PathSet): number {
  return pathSet.reduce<number>((count, keySet) => count * countKeys(keySet), 1);
}

/** Steps that a walk of a path set takes at most at one depth: an empty key set at the end does not make the walk short. */
function widthOf(pathSet: PathSet): number {
  let width = 1;
  let widest = 1;
  for (const keySet of pathSet) {
    width *= countKeys(keySet);
    if (width > widest) widest = width;
  }
  return widest;
}

/**
 * Refuses path sets whose walk would take too many steps. Takes time by the length of the path sets, however many paths they stand for.
 *
 * @throws PathLimitError if the path sets stand for more than `limit` paths.
 */
export function limitPaths(pathSets: readonly PathSet[], limit: number): void {
  let width = 0;
  for (const pathSet of pathSets) width += widthOf(pathSet);
  if (width > limit) throw new PathLimitError(`${width} paths are over the limit of ${limit}`);
}
