/**
 * State as text: from the server's values to the browser's. Plain data is plain JSON, which any client can read; values that
 * JSON does not know are written as `{"$sluice":[type, …]}`. The text is inert wherever it stands in a `<script>`, because it
 * has no `<`: neither an end tag nor a comment can begin in it. It must not know components.
 */

/** The key of an object that stands for a value which JSON does not know. */
export const TYPE_KEY = '$sluice';

const BREAKING = /[<\u2028\u2029]/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
/** Depth that `JSON.stringify` reaches on a small stack. */
export const STATE_DEPTH_MAX = 1_000;

/**
 * Text that `revive` makes the same value of. Knows what JSON knows, and undefined in arrays, numbers that are not finite, -0,
 * BigInt, Date, Map, Set and URL. Properties that are undefined, or named `__proto__`, are left out; objects with a `toJSON`
 * are what it returns; other objects are their own properties. Throws a `TypeError` that names the place for a function, a
 * symbol, a circle, or more than 1,000 levels.
 */
export function serialize(value: unknown): string {
  return serializeJson(encode(value, undefined));
}

/** The same for a value that is known to be plain JSON: it is not looked through once more. */
export function serializeJson(value: unknown): string {
  const json = JSON.stringify(value);
  // One character is searched for faster than a class of them; a text of Latin-1 alone is not even searched for the others.
  if (!json.includes('<') && !json.includes('\u2028') && !json.includes('\u2029')) return json;
  return json.replace(BREAKING, (character) => ESCAPED[character] ?? '');
}

/** Place of a value: the way back to the root. */
interface Place {
  readonly value: object;
  readonly key: string | number;
  readonly parent: Place | undefined;
  readonly depth: number;
}

/** The value itself, if it is plain data: most is, and a copy would cost more than the text. */
function encode(value: unknown, place: Place | undefined): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : typed('number', numberText(value));
    case 'undefined':
      return typed('undefined');
    case 'bigint':
      return typed('bigint', value.toString());
    case 'function':
    case 'symbol':
      throw new TypeError(`${pathOf(place)} is a ${typeof value}, which cannot be sent to the browser`);
    case 'object':
      return value === null ? null : encodeObject(value, place);
  }
}

function encodeObject(value: object, place: Place | undefined): unknown {
  if (value instanceof Date) return typed('date', Number.isNaN(value.getTime()) ? null : value.getTime());
  if (value instanceof URL) return typed('url', value.href);
  refuseCircle(value, place);
  if (Array.isArray(value)) return encodeArray(value, place);
  if (value instanceof Map) return typed('map', encodeArray([...value].flat(1), at(place, value, 'entries')));
  if (value instanceof Set) return typed('set', encodeArray([...value], at(place, value, 'values')));
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return encode(value.toJSON(lastKey(place)), at(place, value, 'toJSON()'));
  }
  return encodeProperties(value as Record<string, unknown>, place);
}

function encodeArray(array: readonly unknown[], place: Place | undefined): readonly unknown[] {
  let copy: unknown[] | undefined;
  // By index: holes of a sparse array are undefined.
  for (let index = 0; index < array.length; index += 1) {
    const element = array[index];
    const encoded = isLeaf(element) ? element : encode(element, at(place, array, index));
    if (encoded !== element) copy ??= array.slice(0, index);
    copy?.push(encoded);
  }
  return copy ?? array;
}

function encodeProperties(object: Record<string, unknown>, place: Place | undefined): unknown {
  const keys = Object.keys(object);
  const isSpecial = Object.hasOwn(object, TYPE_KEY) || Object.hasOwn(object, '__proto__');
  let copy: Map<string, unknown> | undefined = isSpecial ? new Map() : undefined;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? '';
    const property = object[key];
    if (isLeftOut(key, property)) continue;
    const encoded = isLeaf(property) ? property : encode(property, at(place, object, key));
    if (encoded !== property) copy ??= entriesOf(object, keys.slice(0, index));
    copy?.set(key, encoded);
  }
  if (copy === undefined) return object;
  // An object of the app that looks like one of ours.
  return copy.has(TYPE_KEY) ? typed('object', [...copy].flat(1)) : Object.fromEntries(copy);
}

function entriesOf(object: Record<string, unknown>, keys: readonly string[]): Map<string, unknown> {
  return new Map(keys.filter((key) => !isLeftOut(key, object[key])).map((key) => [key, object[key]]));
}

/** JSON leaves out what is undefined, too. */
function isLeftOut(key: string, property: unknown): boolean {
  return property === undefined || key === '__proto__';
}

/** Whether JSON writes it as it is, and it has no parts. */
export function isLeaf(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === 'string' || typeof value === 'boolean' || value === null;
}

function typed(type: string, ...values: readonly unknown[]): unknown {
  return { [TYPE_KEY]: [type, ...values] };
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function at(parent: Place | undefined, value: object, key: string | number): Place {
  const depth = (parent?.depth ?? 0) + 1;
  const place = { value, key, parent, depth };
  if (depth > STATE_DEPTH_MAX) throw new TypeError(`The state is nested more than ${STATE_DEPTH_MAX} deep`);
  return place;
}

function refuseCircle(value: object, place: Place | undefined): void {
  for (let above = place; above !== undefined; above = above.parent) {
    if (above.value === value) {
      throw new TypeError(`${pathOf(place)} is circular, so it cannot be sent to the browser`);
    }
  }
}

function lastKey(place: Place | undefined): string {
  return String(place?.key ?? '');
}

/** Returns the place as it is written in JavaScript: `state.items[3].onClick`. */
function pathOf(place: Place | undefined): string {
  const steps: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) {
    steps.unshift(typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`);
  }
  return `state${steps.join('')}`;
}
