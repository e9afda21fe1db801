/** Bounds on the work that one path set may ask for. */

/** Largest number of steps of a path. */
export const maxDepth = 256;

/** Largest number of single paths that are expanded from path sets, unless a caller gives another. */
export const maxPaths = 100_000;

/** Error for path sets that would take more work than allowed. */
export class PathLimitError extends RangeError {
  override readonly name = 'PathLimitError';
}

/** Error for a value that is no path set, or for text that does not parse. */
export class PathError extends TypeError {
  override readonly name = 'PathError';
}
