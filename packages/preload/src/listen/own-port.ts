/**
 * Connections of the app to its own port before it listens there. Alone, nothing listens on it yet, and the app's search for a free
 * port is answered so: the connection is refused. Under the gateway it would be accepted, so that the app took another port.
 *
 * From the moment when the app listens, connections reach the gateway, and `connect()` is Node's again. Other threads and processes give
 * it back at their next connection to that port. A refused socket tells of no 'lookup' and no
 * attempts. A name is not looked up, so by any but those of `isThisMachine` the gateway accepts. It must not know which server is the
 * main one.
 */
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { nextTurn } from '../timers.js';

type Connect = (this: Socket, ...parts: unknown[]) => Socket;

interface Target {
  readonly port: number;
  readonly host: string;
}

/** Returns what gives `connect()` back to Node. `listens`: whether the app listens by now, here or in another process. */
export function refuseEarlyConnections(port: number, listens: () => boolean): () => void {
  const prototype = Socket.prototype as { connect: Connect };
  const connect = prototype.connect;
  let isOver = false;
  const refusing = {
    connect(this: Socket, ...parts: unknown[]): Socket {
      const target = isOver ? undefined : readTarget(parts);
      if (target?.port !== port || !isThisMachine(target.host) || listens())
        return Reflect.apply(connect, this, parts);
      refuse(this, target, parts);
      return this;
    },
  };
  prototype.connect = refusing.connect;
  return () => {
    isOver = true;
    // A tracing tool may have wrapped it meanwhile.
    if (prototype.connect === refusing.connect) prototype.connect = connect;
  };
}

/** Fails a turn later, as the system would: the caller adds its listeners after the call. */
function refuse(socket: Socket, { host, port }: Target, parts: readonly unknown[]): void {
  const callback = callbackOf(parts);
  if (callback !== undefined) socket.once('connect', callback);
  const address = host === '::1' || host === '::' ? '::1' : '127.0.0.1';
  const error = Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), {
    errno: -constants.errno.ECONNREFUSED,
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address,
    port,
  });
  // What is written meanwhile waits for the connection, as it would for a real one.
  (socket as { connecting: boolean }).connecting = true;
  nextTurn(() => socket.destroy(error));
}

/** Undefined for paths, and for calls that Node refuses. */
function readTarget(parts: readonly unknown[]): Target | undefined {
  // `net.connect` has its arguments put into an array.
  const values = Array.isArray(parts[0]) ? (parts[0] as unknown[]) : parts;
  const [first, second] = values;
  const { port, host, path } =
    typeof first === 'object' && first !== null
      ? (first as Record<string, unknown>)
      : { port: first, host: second, path: undefined };
  if (typeof path === 'string' || (typeof port !== 'number' && typeof port !== 'string')) return undefined;
  return { port: Number(port), host: typeof host === 'string' && host !== '' ? host : 'localhost' };
}

function callbackOf(parts: readonly unknown[]): (() => void) | undefined {
  const values = Array.isArray(parts[0]) ? (parts[0] as unknown[]) : parts;
  const last = values.at(-1);
  return typeof last === 'function' ? (last as () => void) : undefined;
}

/** Whether the name is one of the loopback. At other addresses of this machine, another program may have the port. */
function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1?|::ffff:127(?:\.\d+){3})$/i.test(host);
}
