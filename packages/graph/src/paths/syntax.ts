/** Text of paths: `lists[0..9].title`, `users['a','b'][0...3]`. */
import type { Key, KeySet, PathSet, Range } from '../types.js';
import { onlyOf } from './keys.js';
import { maxDepth, PathError } from './limits.js';

const OPEN = /\[/uy;
const POINT = /\./uy;
const NAME = /[^.[\]{}"'\s,:]+/uy;
/** One part between brackets, with the comma or the bracket behind it. */
const PART =
  /\s*(?:(\d+)(?:\s*(\.{2,3})\s*(\d+))?|(["'])((?:\\.|(?!\4)[^\\])*)\4|(true|false|null))\s*([,\]])/suy;

/** Text that is read from its start to its end. */
export class PathReader {
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

  fail(): never {
    const text = JSON.stringify(this.text.slice(0, 200));
    throw new PathError(`Unexpected text or end at ${this.at} in the path ${text}`);
  }
}

/**
 * Path set of a text. Names stand between points; integers, ranges (`0..9` with its end, `0...10` without) and quoted strings in brackets,
 * several of them between commas.
 *
 * @throws PathError with the position at which the text does not parse.
 */
export function parsePath(text: string): PathSet {
  return parseSteps(text, readKeySet);
}

/** Steps of a text, those in brackets as a function reads them from behind the bracket. */
export function parseSteps<T>(text: string, read: (reader: PathReader) => T): (T | string)[] {
  const reader = new PathReader(text);
  const steps: (T | string)[] = [];
  while (reader.at < text.length) {
    if (steps.length === maxDepth) reader.fail();
    if (reader.take(OPEN) !== undefined) steps.push(read(reader));
    else {
      if (steps.length > 0 && reader.take(POINT) === undefined) reader.fail();
      steps.push((reader.take(NAME) ?? reader.fail())[0]);
    }
  }
  return steps;
}

/** Key set in brackets, from behind the first. */
export function readKeySet(reader: PathReader): KeySet {
  const parts: (Key | Range)[] = [];
  for (;;) {
    const match = reader.take(PART) ?? reader.fail();
    parts.push(partOf(reader, match));
    if (match[7] !== ']') continue;
    return onlyOf(parts);
  }
}

function partOf(reader: PathReader, [, digits, dots, end, , quoted, word]: RegExpExecArray): Key | Range {
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gsu, '$1');
  if (digits === undefined) return JSON.parse(word as string) as Key;
  const from = Number(digits);
  const to = end === undefined ? from : Number(end);
  if (!Number.isSafeInteger(Math.max(from, to))) reader.fail();
  return dots === undefined ? from : { from, to: dots === '..' ? to : to - 1 };
}
