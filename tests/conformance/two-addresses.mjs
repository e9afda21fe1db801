/**
 * Gives `localhost` both loopback addresses, whatever the hosts file of this machine says. Fastify opens a server of
 * its own for each of them, on the same port.
 */

import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const loopback = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const { lookup } = dns;

dns.lookup = (name, ...parts) => {
  const [options] = parts;
  const callback = parts.at(-1);
  if (name !== 'localhost' || typeof options !== 'object' || options?.all !== true)
    return lookup(name, ...parts);
  process.nextTick(callback, null, loopback);
};
syncBuiltinESMExports();
