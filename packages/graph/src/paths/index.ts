/** Paths, path sets and their text. */
export { checkPathSet, countPaths, isKey, limitPaths, toPath, toPathSet } from './check.js';
export { boundsOf, countKeys, isList, isRange, keySetOf, keysOf, listKeys, normalKey } from './keys.js';
export { maxDepth, maxPaths, PathError, PathLimitError } from './limits.js';
export { collapse, collapsePaths, expandPaths, subtractPaths } from './sets.js';
export { parseRoute, type Pattern, type RoutePath } from './routes.js';
export { parsePath } from './syntax.js';
export { PathTrie } from './trie.js';
