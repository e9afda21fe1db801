/** End of a server of `node:http`. */
import type { Server } from 'node:http';

/** Closes a server and all its connections. Resolves when it is closed. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
