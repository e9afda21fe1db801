/** Text of paths: `lists[0..9].title`, `users['a','b'][0...3]`, and of routes: `titles[{integers:ids}].name`. */
import type { Key, KeySet, PathSet, Range } from '../types.js';
import { maxDepth, PathError } from './limits.js';

/** Step of a route that takes any key, integers, or integers as ranges. */
export interface Pattern {
  readonly type: 'keys' | 'integers' | 'ranges';
  /** Name under which the handler finds the keys. */
  readonly name?: string;
}

/** Path whose steps may be patterns. */
export type RoutePath = readonly (KeySet | Pattern)[];

const NAME = /[^.[\]{}"'\s,:]+/uy;
const BLANK = /\s*/uy;
const NUMBER = /(?:\d+)(?![^\s.,\]])/uy;
const RANGE = /\s*(\.\.\.?)\s*/uy;
const PATTERN = /\{\s*(keys|integers|ranges)\s*(?::\s*([\w$]+)\s*)?\}/uy;
const WORDS: ReadonlyMap<string, Key> = new Map<string, Key>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Match of a sticky expression here, which is passed. */
  take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at;
    const match = expression.exec(this.text);
    if (match === null) return undefined;
    this.at = expression.lastIndex;
    return match;
  }

  takes(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  fail(what: string): never {
    throw new PathError(`${what} at ${this.at} in the path ${JSON.stringify(this.text.slice(0, 200))}`);
  }
}

/**
 * Path set of a text. Names stand between points; integers, ranges (`0..9` with its end, `0...10` without) and quoted strings in brackets,
 * several of them between commas.
 *
 * @throws PathError with the position at which the text does not parse.
 */
export function parsePath(text: string): PathSet {
  return parse(text, false) as PathSet;
}

/**
 * Route of a text: a path whose brackets may hold `{keys}`, `{integers}` or `{ranges}`, with a name as in `{integers:ids}`.
 *
 * @throws PathError with the position at which the text does not parse.
 */
export function parseRoute(text: string): RoutePath {
  return parse(text, true);
}

function parse(text: string, hasPatterns: boolean): RoutePath {
  const reader = new Reader(text);
  const steps: (KeySet | Pattern)[] = [];
  while (reader.at < text.length) {
    if (steps.length === maxDepth) reader.fail(`More than ${maxDepth} keys`);
    if (reader.takes('[')) {
      steps.push((hasPatterns ? readPattern(reader) : undefined) ?? readKeySet(reader));
      continue;
    }
    if (steps.length > 0 && !reader.takes('.')) reader.fail('No "." or "["');
    const [name] = reader.take(NAME) ?? reader.fail('No name');
    steps.push(name);
  }
  return steps;
}

function readPattern(reader: Reader): Pattern | undefined {
  reader.take(BLANK);
  const match = reader.take(PATTERN);
  if (match === undefined) return undefined;
  reader.take(BLANK);
  if (!reader.takes(']')) reader.fail('No "]"');
  const type = match[1] as Pattern['type'];
  return match[2] === undefined ? { type } : { type, name: match[2] };
}

function readKeySet(reader: Reader): KeySet {
  const parts: (Key | Range)[] = [];
  do {
    reader.take(BLANK);
    parts.push(readPart(reader));
    reader.take(BLANK);
  } while (reader.takes(','));
  if (!reader.takes(']')) reader.fail('No "," or "]"');
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : parts;
}

function readPart(reader: Reader): Key | Range {
  for (const quote of ['"', "'"]) if (reader.takes(quote)) return readQuoted(reader, quote);
  const number = reader.take(NUMBER);
  if (number === undefined) {
    const word = WORDS.get(reader.take(NAME)?.[0] ?? '');
    return word === undefined ? reader.fail('No integer, range or quoted string') : word;
  }
  const from = safe(reader, number[0]);
  const dots = reader.take(RANGE);
  if (dots === undefined) return from;
  const end = safe(reader, (reader.take(NUMBER) ?? reader.fail('No end of a range'))[0]);
  return { from, to: dots[1] === '...' ? end - 1 : end };
}

function safe(reader: Reader, digits: string): number {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : reader.fail('Too large an integer');
}

function readQuoted(reader: Reader, quote: string): string {
  let key = '';
  for (; reader.at < reader.text.length; reader.at += 1) {
    const character = reader.text[reader.at];
    if (character === quote) {
      reader.at += 1;
      return key;
    }
    if (character === '\\') reader.at += 1;
    key += reader.text[reader.at] ?? '';
  }
  return reader.fail('No end of a quoted string');
}
