/** Values of JSON Graph. */
import { toPath } from './paths/index.js';
import type { Atom, GraphError, Metadata, PathInput, Ref } from './types.js';

/** Value that is read as a whole. */
export function atom<T>(value?: T, metadata: Metadata = {}): Atom<T> {
  return { $type: 'atom', ...(value === undefined ? {} : { value }), ...metadata };
}

/**
 * Link to another place of the graph.
 *
 * @throws PathError if the path does not parse, or stands for several.
 */
export function ref(path: PathInput, metadata: Metadata = {}): Ref {
  return { $type: 'ref', value: toPath(path), ...metadata };
}

/** Error in place of a value. */
export function error<T>(value: T, metadata: Metadata = {}): GraphError<T> {
  return { $type: 'error', value, ...metadata };
}
