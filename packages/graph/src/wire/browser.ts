/** The wire in browsers: bundlers take this instead of `index.ts`, which has the server's part as well. */
export { type HttpDataSource, httpSource, type HttpSourceOptions } from './source.js';
export { graphTag } from './tags.js';
