/**
 * Changes to the one server that the gateway talks to. Its requests go through the gate, its idle connections are never
 * closed, and TLS, which ended at the gateway, is left out.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Requests } from '../requests/requests.js';

type Emit = (this: unknown, event: string | symbol, ...parts: unknown[]) => boolean;

type Listener = (...parts: unknown[]) => void;

const prepared = new WeakSet<Server>();

/**
 * Prepares the main server. `isFromClient` identifies connections to a further address, where a former main server
 * continues as any other.
 */
export function prepareMainServer(
  server: Server,
  requests: Requests,
  isTls: boolean,
  isFromClient: (socket: unknown) => boolean,
): void {
  if (prepared.has(server)) return;
  prepared.add(server);
  keepIdleConnections(server);
  const tls = isTls ? dropTlsListener(server) : undefined;
  routeEvents(server, requests, isTls, (event, parts) => {
    if (!isFromClient(socketOf(event, parts))) return false;
    if (event === 'connection' && tls !== undefined) Reflect.apply(tls, server, parts);
    return true;
  });
}

/** Goes between the HTTP parser and the app, whatever listeners the app adds and when. */
function routeEvents(
  server: Server,
  requests: Requests,
  isTls: boolean,
  isLeftAlone: (event: string | symbol, parts: unknown[]) => boolean,
): void {
  const own = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : undefined;
  const prototype = Object.getPrototypeOf(server) as { readonly emit: Emit };
  // Looked up at each call, because tracing tools replace the prototype's emit at any time.
  const emit = (event: string | symbol, parts: unknown[]): boolean =>
    Reflect.apply(own ?? prototype.emit, server, [event, ...parts]);

  const gated: Emit = (event, ...parts) => {
    if (isLeftAlone(event, parts)) return emit(event, parts);
    switch (event) {
      case 'request':
      case 'checkContinue':
      case 'checkExpectation': {
        const request = parts[0] as IncomingMessage;
        const response = parts[1] as ServerResponse;
        requests.respond(request, response, () => {
          if (server.timeout > 0) request.socket.setTimeout(server.timeout);
          (own ?? prototype.emit).call(server, event, request, response);
        });
        return true;
      }
      case 'upgrade':
      case 'connect':
        requests.upgrade(parts[0] as IncomingMessage, parts[1] as Socket, () => emit(event, parts));
        return true;
      case 'connection': {
        const socket = parts[0] as Socket;
        emit(event, parts);
        if (isTls) emit('secureConnection', [asIfDecrypted(socket)]);
        // The app's timeout counts while it has a request, not between two.
        socket.setTimeout(0);
        return true;
      }
      case 'clientError': {
        // The parser refused it, so no request reached the app and none will be reported as done.
        const heard = emit(event, parts);
        requests.unread();
        return heard;
      }
      default:
        return emit(event, parts);
    }
  };
  Object.assign(server, { emit: gated });
}

/** Returns the socket of the events that are treated in a way of their own. */
function socketOf(event: string | symbol, parts: unknown[]): unknown {
  switch (event) {
    case 'connection':
      return parts[0];
    case 'request':
    case 'checkContinue':
    case 'checkExpectation':
      return (parts[0] as IncomingMessage).socket;
    case 'upgrade':
    case 'connect':
    case 'clientError':
      return parts[1];
    default:
      return undefined;
  }
}

/**
 * Keeps idle connections open. The gateway keeps its connections and reuses them, so an idle one must not be closed
 * under a request that is being sent. Deadlines for slow requests have nothing to do either, since whole requests
 * arrive, but would close a connection that was opened ahead of its first request. Settings of the app are remembered
 * and have no effect.
 */
function keepIdleConnections(server: Server): void {
  for (const name of ['keepAliveTimeout', 'headersTimeout', 'requestTimeout']) {
    Object.defineProperty(server, name, {
      configurable: true,
      enumerable: true,
      get: () => 0,
      set: () => {},
    });
  }
}

/** An https server parses HTTP on whatever arrives as 'secureConnection', which here is the plain socket. */
function dropTlsListener(server: Server): Listener | undefined {
  const listeners = server.listeners('connection') as Listener[];
  // Its constructor adds this listener before anybody else can.
  const tls = listeners.find((listener) => listener.name === 'tlsConnectionListener') ?? listeners[0];
  if (tls !== undefined) server.off('connection', tls);
  return tls;
}

/** The few members of a TLS socket that apps read without asking. `encrypted` follows the client's protocol. */
function asIfDecrypted(socket: Socket): Socket {
  return Object.assign(socket, {
    alpnProtocol: false,
    authorized: false,
    servername: false,
    getPeerCertificate: () => ({}),
    getProtocol: () => null,
    getCipher: () => ({}),
  });
}
