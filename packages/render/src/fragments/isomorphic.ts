/** One module for server and browser, as Hypernova's components are written: each side runs its half. Runs anywhere. */

export interface Halves<Server, Client> {
  server(): Server;
  client(): Client;
}

/** The result of `server()` where there is no window, and of `client()` where there is. */
export function runHalf<Server, Client>(halves: Halves<Server, Client>): Server | Client {
  return 'window' in globalThis ? halves.client() : halves.server();
}

export function isHalves(value: unknown): value is Halves<unknown, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'server' in value &&
    typeof value.server === 'function' &&
    'client' in value &&
    typeof value.client === 'function'
  );
}
