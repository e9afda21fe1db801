/** Data source of a browser that notes which paths the page's state had. It must not know documents. */
import type { Model } from '../model/model.js';
import type { DataSource, PathSet } from '../types.js';
import { withGet } from './with-get.js';

/** Path sets from the first that count: a server reads places of up to four digits. */
const PATH_SETS_MAX = 10_000;
/** Places that are told at most, and the characters of the header that they make, as servers refuse requests with large headers. */
const PLACES_MAX = 1_000;
const CHARACTERS_MAX = 4_096;

/** Data source that says with each request which of its path sets the state held in whole, up to a bound. */
export function heldNoted(source: DataSource, state: () => Model | undefined): DataSource {
  return withGet(source, (paths, options) => {
    const had = state();
    if (had === undefined) return source.get(paths, options);
    return source.get(paths, { ...options, held: placesOf(paths, had) });
  });
}

function placesOf(paths: readonly PathSet[], had: Model): readonly number[] {
  const places: number[] = [];
  let characters = 0;
  for (const [at, path] of paths.slice(0, PATH_SETS_MAX).entries()) {
    if (!isHeld(path, had)) continue;
    characters += String(at).length + 1;
    if (places.length === PLACES_MAX || characters > CHARACTERS_MAX) break;
    places.push(at);
  }
  return places;
}

function isHeld(path: PathSet, had: Model): boolean {
  try {
    return had.read(path).missing.length === 0;
  } catch {
    // A path set with more paths than a read may have: what is to be said of it, the source says.
    return false;
  }
}
