/** Errors that components do not throw themselves. */
import { inspect } from 'node:util';

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
  const message = typeof thrown === 'string' ? thrown : `${inspect(thrown, { depth: 0 })} was thrown`;
  return new Error(message, { cause: thrown });
}
