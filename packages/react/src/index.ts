/** `@sluice/react`: what components import. It runs in browsers as well; the renderer is `@sluice/react/server`. */
export { Cached } from './cache/cached.js';
export type { Cacheable, CachedProps } from './cache/cached.js';
