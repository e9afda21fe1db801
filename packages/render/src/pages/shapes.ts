/** Shapes of values that came from outside. It must not know trees. */

/** An object as JSON or a literal makes it: no array, no instance of a class. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function isText(value: unknown, characters_max: number): value is string {
  return typeof value === 'string' && value.length <= characters_max;
}

export function isWhole(value: unknown, from: number, to: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
}
