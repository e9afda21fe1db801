/** The browser's half of `serialize.ts`, without imports: small, and usable in a bundle. It must not know where the text stood. */

/** Texts that have none of these are plain data: `__proto__` may be spelt with escapes. */
const SPECIAL = /\$sluice|__proto__|\\u00[567]/;

/** The value that `serialize` made the text of. Never has a property named `__proto__`. Throws where the text is no such. */
export function revive(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return SPECIAL.test(text) ? decode(value) : value;
}

/** Arrays and objects are changed in place. */
function decode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return decodeArray(value);
  const object = value as Record<string, unknown>;
  if (Object.hasOwn(object, '$sluice')) return decodeTyped(object['$sluice'] as readonly unknown[]);
  delete object['__proto__'];
  for (const key of Object.keys(object)) object[key] = decode(object[key]);
  return object;
}

function decodeArray(array: unknown[]): readonly unknown[] {
  for (const [index, element] of array.entries()) array[index] = decode(element);
  return array;
}

function decodeTyped([type, content]: readonly unknown[]): unknown {
  switch (type) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(content);
    case 'bigint':
      return BigInt(content as string);
    case 'date':
      return new Date((content as number | null) ?? Number.NaN);
    case 'url':
      return new URL(content as string);
    case 'map':
      return new Map(pairs(decodeArray(content as unknown[])));
    case 'set':
      return new Set(decodeArray(content as unknown[]));
    case 'object':
      return Object.fromEntries(pairs(decodeArray(content as unknown[])));
    default:
      throw new TypeError(`State of an unknown type: ${String(type)}`);
  }
}

/** Keys and values, which stand in turns. */
function pairs(flat: readonly unknown[]): [string, unknown][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    flat[index * 2] as string,
    flat[index * 2 + 1],
  ]);
}
