/** Data sources around others. */
import type { DataSource } from '../types.js';

/** Data source with another `get`, which sets and calls as the given one does. */
export function withGet(source: DataSource, get: DataSource['get']): DataSource {
  return {
    get,
    ...(source.set === undefined ? {} : { set: source.set.bind(source) }),
    ...(source.call === undefined ? {} : { call: source.call.bind(source) }),
  };
}
