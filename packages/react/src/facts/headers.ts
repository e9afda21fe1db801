/** The `Link` header that `onHeaders` gets: hints that fit in it are not written into the document as well. */
import { toText } from './escape.js';
import type { Props } from './react.js';

export interface HeaderHints {
  preconnects: string;
  fontPreloads: string;
  highImagePreloads: string;
  remainingCapacity: number;
}

const HEADER_CHARACTERS_MAX = 2000;

export function createHeaderHints(maxHeadersLength: unknown): HeaderHints {
  const capacity = typeof maxHeadersLength === 'number' ? maxHeadersLength : HEADER_CHARACTERS_MAX;
  // The first hint has no separator, whose two characters every hint is charged for.
  return { preconnects: '', fontPreloads: '', highImagePreloads: '', remainingCapacity: 2 + capacity };
}

type HintList = 'preconnects' | 'fontPreloads' | 'highImagePreloads';

/** Returns true when the hint fits; one that does not fit uses up the capacity too, as in react-dom. */
export function addHint(hints: HeaderHints | null, list: HintList, hint: () => string): boolean {
  if (hints === null || hints.remainingCapacity <= 0) return false;
  const text = hint();
  if (!takeCapacity(hints, text)) return false;
  hints[list] += (hints[list] === '' ? '' : ', ') + text;
  return true;
}

export function takeCapacity(hints: HeaderHints, text: string): boolean {
  hints.remainingCapacity -= text.length + 2;
  return hints.remainingCapacity >= 0;
}

const IN_URL: Record<string, string> = { '<': '%3C', '>': '%3E', '\n': '%0A', '\r': '%0D' };
const IN_PARAMETER: Record<string, string> = {
  '"': '%22',
  "'": '%27',
  ';': '%3B',
  ',': '%2C',
  '\n': '%0A',
  '\r': '%0D',
};

export function hintUrl(href: unknown): string {
  return toText(href).replace(/[<>\r\n]/g, (character) => IN_URL[character] as string);
}

export function hintParameter(value: unknown): string {
  return toText(value).replace(/["';,\r\n]/g, (character) => IN_PARAMETER[character] as string);
}

export function preloadHint(href: unknown, as: unknown, parameters: Props | undefined | null): string {
  let hint = `<${hintUrl(href)}>; rel=preload; as="${hintParameter(as)}"`;
  for (const name in parameters) {
    if (!Object.hasOwn(parameters, name)) continue;
    const value = parameters[name];
    if (typeof value === 'string') hint += `; ${name.toLowerCase()}="${hintParameter(value)}"`;
  }
  return hint;
}
