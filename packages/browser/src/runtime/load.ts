/** Gets code of components and adapters, each once. */

/** An address, so that a retry can ask for another one; or a function, in development. */
export type Source<T> = string | (() => Promise<T>);

const RETRY_AFTER_MS = 1000;
const loaded = new Map<unknown, Promise<unknown>>();

/** Tries twice; a failure is forgotten, so that the next box tries again. */
export function load<T>(source: Source<T>): Promise<T> {
  const known = loaded.get(source) as Promise<T> | undefined;
  if (known) return known;
  const loading = get(source, '').catch(async () => {
    await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
    // Browsers remember that an address gave no module.
    return get(source, '?retry');
  });
  loaded.set(source, loading);
  loading.catch(() => loaded.delete(source));
  return loading;
}

function get<T>(source: Source<T>, query: string): Promise<T> {
  if (typeof source === 'function') return source();
  return import(/* @vite-ignore */ source + query).catch((cause: unknown) => {
    // Errors of code that is evaluated do not say whose code it is.
    throw new Error(source, { cause });
  }) as Promise<T>;
}
