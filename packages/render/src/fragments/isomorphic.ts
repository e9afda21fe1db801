/** One module for server and browser, as Hypernova's components are written: each side runs its half. Runs anywhere. */

export interface Halves<Server, Client = never> {
  server(): Server;
  /** Client half; may be missing in a module that no browser loads. */
  client?(): Client;
}

/** The result of `server()` where there is no window, and of `client()` where there is. */
export function runHalf<Server, Client = never>(halves: Halves<Server, Client>): Server | Client {
  if (!('window' in globalThis)) return halves.server();
  if (halves.client === undefined) throw new TypeError('hypernova() in a browser needs a `client` function');
  return halves.client();
}

export function isHalves(value: unknown): value is Halves<unknown, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'server' in value &&
    typeof value.server === 'function' &&
    // Options of a server may have any further properties, for plugins.
    !('getComponent' in value)
  );
}
