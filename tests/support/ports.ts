// Free ports for tests that run side by side.
import net from 'node:net';
import { once } from 'node:events';

const handedOut = new Set<number>();

/** A TCP port that nothing listened on a moment ago, on any address; never the same twice from one process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = net.createServer();
    server.listen(0);
    await once(server, 'listening');
    const address = server.address();
    server.close();
    await once(server, 'close');
    if (address === null || typeof address === 'string') throw new Error('no address for a listening server');
    if (!handedOut.has(address.port)) {
      handedOut.add(address.port);
      return address.port;
    }
  }
}
