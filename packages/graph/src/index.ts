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
