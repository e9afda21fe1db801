/** Errors that components do not throw themselves. */

/** Time ran out: of the component, or of the page before it began. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** The props are none that the component takes. */
export class InvalidPropsError extends TypeError {
  override readonly name = 'InvalidPropsError';
}

/** Error of a render whose HTML nobody waits for any more. */
export class AbandonedError extends Error {
  override readonly name = 'AbortError';
}
