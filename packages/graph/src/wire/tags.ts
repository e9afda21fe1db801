/** Tags of answers, by which caches purge the data of a path. */
import type { JsonGraph, Path } from '../types.js';

/** Bounds the characters of the header. */
const TAGS_CHARACTERS_MAX = 4_000;

/**
 * Tag of the data below a path of one or two keys: `purge({ tag: graphTag(['titlesById', 5]) })` drops all answers that have data of that
 * title.
 */
export function graphTag(path: Path): string {
  return `graph:${path.map((key) => encodeURIComponent(String(key)).replaceAll('.', '%2E')).join('.')}`;
}

/**
 * Tags of the first one and two keys of all paths in a graph. A long list is reduced to the tags of one key; undefined where those are too long
 * as well.
 */
export function tagsOf(graph: JsonGraph): string | undefined {
  const coarse: string[] = [];
  const fine: string[] = [];
  for (const [key, value] of Object.entries(graph)) {
    coarse.push(graphTag([key]));
    if (typeof value !== 'object' || value === null || '$type' in value) continue;
    for (const next of Object.keys(value)) fine.push(graphTag([key, next]));
  }
  const all = [...coarse, ...fine].join(', ');
  if (all.length <= TAGS_CHARACTERS_MAX) return all;
  const few = coarse.join(', ');
  return few.length <= TAGS_CHARACTERS_MAX ? few : undefined;
}
