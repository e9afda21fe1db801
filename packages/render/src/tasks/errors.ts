/** Errors that components do not throw themselves. */
export { AbandonedError } from '../abort.js';

/** Time ran out: of the component, or of the page before it began. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** The props are none that the component takes. */
export class InvalidPropsError extends TypeError {
  override readonly name = 'InvalidPropsError';
}
