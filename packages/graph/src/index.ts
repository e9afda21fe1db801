/** JSON Graph: paths, values and the model that caches them. Without dependencies, in Node.js and in browsers. */
export * from './types.js';
export {
  collapsePaths,
  countPaths,
  expandPaths,
  parsePath,
  PathError,
  PathLimitError,
  subtractPaths,
} from './paths/index.js';
export { type PathErrorValue, ReadErrors, ReferenceLoopError, UnansweredError } from './model/errors.js';
export type { Json } from './model/json.js';
export type { CallOptions, SetInput, SetOptions } from './model/input.js';
export { type JsonEnvelope, Model, type ModelOptions, type Snapshot } from './model/model.js';
export { atom, error, ref } from './values.js';
