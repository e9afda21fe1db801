/** Errors that components do not throw themselves. */

/** Time ran out: of the component, or of the page before it began. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** The props are none that the component takes. */
export class InvalidPropsError extends TypeError {
  override readonly name = 'InvalidPropsError';
}

/** Nobody waits for the HTML any more. */
export class AbandonedError extends Error {
  override readonly name = 'AbortError';
}

/** Whatever was thrown, as an error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  // Errors of another realm, from `node:vm` for example.
  if (Object.prototype.toString.call(thrown) === '[object Error]') return thrown as Error;
  return new Error(typeof thrown === 'string' ? thrown : `${describe(thrown)} was thrown`, { cause: thrown });
}

function describe(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'An object' : String(value as string);
}
