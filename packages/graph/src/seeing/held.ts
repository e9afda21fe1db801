/** Data source of a browser that notes which paths the page's state had. It must not know documents. */
import type { Model } from '../model/model.js';
import type { DataSource } from '../types.js';
import { withGet } from './with-get.js';

/** Data source that says with each request which of its path sets the state held in whole. */
export function heldNoted(source: DataSource, state: () => Model | undefined): DataSource {
  return withGet(source, (paths, options) => {
    const had = state();
    if (had === undefined) return source.get(paths, options);
    const held = paths.flatMap((path, at) => (had.read(path).missing.length === 0 ? [at] : []));
    return source.get(paths, { ...options, held });
  });
}
