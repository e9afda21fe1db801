/** Text of routes: `titles[{integers:ids}].name`. */
import type { KeySet } from '../types.js';
import { type PathReader, parseSteps, readKeySet } from './syntax.js';

/** Step of a route that takes any key, integers, or integers as ranges. */
export interface Pattern {
  readonly type: 'keys' | 'integers' | 'ranges';
  /** Name under which the handler finds the keys. */
  readonly name?: string;
}

/** Path whose steps may be patterns. */
export type RoutePath = readonly (KeySet | Pattern)[];

const PATTERN = /\s*\{\s*(keys|integers|ranges)\s*(?::\s*([\w$]+)\s*)?\}\s*\]/uy;

/**
 * Route of a text: a path whose brackets may hold `{keys}`, `{integers}` or `{ranges}`, with a name as in `{integers:ids}`.
 *
 * @throws PathError with the position at which the text does not parse.
 */
export function parseRoute(text: string): RoutePath {
  return parseSteps(text, readStep);
}

function readStep(reader: PathReader): KeySet | Pattern {
  const match = reader.take(PATTERN);
  if (match === undefined) return readKeySet(reader);
  const type = match[1] as Pattern['type'];
  return match[2] === undefined ? { type } : { type, name: match[2] };
}
