/** Tags of answers, by which caches purge the data of a path. */
import type { JsonGraph, Key, Path } from '../types.js';

/** Bounds the characters of the header: clients of Node.js refuse heads of more than 16 KiB. */
const TAGS_CHARACTERS_MAX = 12_000;
/** Bounds the tags: Sluice's page cache keeps no answer that has more. */
const TAGS_MAX = 1_000;

/** Halves of pairs without their other half, which are no text. */
const HALVES = /\p{Surrogate}/gu;

/**
 * Tag of the data below a path of one or two keys: `purge({ tag: graphTag(['titlesById', 5]) })` drops all answers that have data of that
 * title. No shared cache keeps an answer that would have more than 1,000 tags, or 12,000 characters of them. Lone surrogates in keys count as
 * U+FFFD.
 */
export function graphTag(path: Path): string {
  return `graph:${path.map(encoded).join('.')}`;
}

function encoded(key: Key): string {
  return encodeURIComponent(String(key).replace(HALVES, '\uFFFD')).replaceAll('.', '%2E');
}

/** Tags of the first one and two keys of all paths in a graph; undefined where they are too many or too long. */
export function tagsOf(graph: JsonGraph): string | undefined {
  const tags: string[] = [];
  for (const [key, value] of Object.entries(graph)) {
    const tag = graphTag([key]);
    tags.push(tag);
    if (typeof value !== 'object' || value === null || '$type' in value) continue;
    for (const next of Object.keys(value)) tags.push(`${tag}.${encoded(next)}`);
  }
  const all = tags.join(', ');
  return tags.length <= TAGS_MAX && all.length <= TAGS_CHARACTERS_MAX ? all : undefined;
}
