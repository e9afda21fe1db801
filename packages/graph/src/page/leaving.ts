/** Data source of a page, until its client leaves. It must not know pages. */
import type { DataSource, SourceOptions } from '../types.js';

/** The data source, whose requests abort with the signal. It asks for nothing after that: reads reject with the signal's reason. */
export function sourceUntil(signal: AbortSignal, source: DataSource): DataSource {
  const within = (options: SourceOptions = {}): SourceOptions => {
    signal.throwIfAborted();
    const own = options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]);
    return { ...options, signal: own };
  };
  const set = source.set?.bind(source);
  const call = source.call?.bind(source);
  return {
    get: (paths, options) => source.get(paths, within(options)),
    ...(set && { set: (envelope, options) => set(envelope, within(options)) }),
    ...(call && {
      call: (path, args, refSuffixes, thisPaths, options) =>
        call(path, args, refSuffixes, thisPaths, within(options)),
    }),
  };
}
