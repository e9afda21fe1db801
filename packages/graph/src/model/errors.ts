/** Errors of a model. */
import type { Path, PathSet } from '../types.js';

/** Error that was read, and the path that was asked for. */
export interface PathErrorValue {
  readonly path: Path;
  /** Value of the error, or the error as in the graph where values are boxed. */
  readonly value: unknown;
}

/** Error of a read that met errors in the graph. */
export class ReadErrors extends Error {
  override readonly name = 'ReadErrors';
  readonly errors: readonly PathErrorValue[];
  /** Values that were read beside the errors. */
  readonly json: unknown;

  constructor(errors: readonly PathErrorValue[], json: unknown) {
    super(`${errors.length} errors, the first at ${JSON.stringify(errors[0]?.path)}`);
    this.errors = errors;
    this.json = json;
  }
}

/** Error of a read whose data source answered without the values asked for. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
  /** Path sets that are not answered. */
  readonly paths: readonly PathSet[];
  /** Values that were read. */
  readonly json: unknown;

  constructor(paths: readonly PathSet[], json: unknown) {
    super(`The data source left out ${JSON.stringify(paths.slice(0, 3))}`);
    this.paths = paths;
    this.json = json;
  }
}

/** Error of a read or write through references that lead to each other. */
export class ReferenceLoopError extends RangeError {
  override readonly name = 'ReferenceLoopError';

  constructor(path: Path) {
    super(`Over 64 references in a row at ${JSON.stringify(path)}`);
  }
}
