/**
 * Connections by which the app asks itself through the gateway. A request that waits for another one of the same app must not keep
 * it from a worker, so the gateway lets such requests go first. It must not know what is asked.
 */
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Control } from '../control/control.js';

/** `port`: the gateway's own. Node publishes each TCP client socket when it is made. */
export function tellOwnCalls(control: Control, port: number): void {
  if (port === 0) return;
  channel('net.client.socket').subscribe((message) => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () => {
      const { localPort, remotePort, localAddress, remoteAddress } = socket;
      // A connection within this machine has the same address at both ends.
      if (remotePort !== port || localPort === undefined || localAddress !== remoteAddress) return;
      control.send({ type: 'asks-itself', port: localPort, closed: false });
      socket.once('close', () => control.send({ type: 'asks-itself', port: localPort, closed: true }));
    });
  });
}
