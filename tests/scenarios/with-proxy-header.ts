// Headers of the PROXY protocol as a test writes them, and connections that begin with one.
import net from 'node:net';
import { once } from 'node:events';

/** A line of version 1. */
export const line = (source: string, port = 40_000): string =>
  `PROXY ${source.includes(':') ? 'TCP6' : 'TCP4'} ${source} ${source.includes(':') ? '::1' : '192.0.2.1'} ${port} 443\r\n`;

const START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** A header of version 2 for a client of IPv4. */
export function binary(source: string, port = 40_000): Buffer {
  const addresses = Buffer.alloc(12);
  [...source.split('.'), 192, 0, 2, 1].forEach((part, at) => addresses.writeUInt8(Number(part), at));
  addresses.writeUInt16BE(port, 8);
  addresses.writeUInt16BE(443, 10);
  return Buffer.concat([START, Buffer.from([0x21, 0x11, 0, 12]), addresses]);
}

/** A header of version 2 by which the proxy speaks for itself. */
export const local = Buffer.concat([START, Buffer.from([0x20, 0, 0, 0])]);

/** A connection whose first bytes are these. */
export async function connectedWith(port: number, header: string | Buffer): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.write(header);
  return socket;
}
