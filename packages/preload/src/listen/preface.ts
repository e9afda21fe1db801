/**
 * Connections to further addresses come through the gateway, which accepted them, on a unix socket that knows no addresses.
 * The gateway sends the addresses of the client's connection first, as one line of the PROXY protocol, version 1. The app
 * gets the connection after that line. The client's first byte follows only when the line is acknowledged, so that the app
 * finds the socket as Node would have made it, with nothing read. It must not know what servers get.
 */
import { type AddressInfo, type BlockList, isIP, type Server, Socket } from 'node:net';
import { later, nextTurn, noLater } from '../timers.js';

/** Longest line of the PROXY protocol, version 1, with its end. */
const LINE_BYTES_MAX = 107;
/** Time limit for the first line of a connection, which contains its client's address. */
const WAIT_MS_MAX = 5_000;
const ACKNOWLEDGEMENT = '\n';

type Emit = (this: unknown, event: string | symbol, ...parts: unknown[]) => boolean;

/** Parts that every supported version of Node has between a socket and libuv. */
interface Handle {
  reading?: boolean;
  readStart(): number;
  readStop(): number;
}

interface Accepted extends Socket {
  readonly _handle: Handle | null;
  readonly _server?: unknown;
  /** Socket below a TLS socket. */
  readonly _parent?: Socket;
}

interface Ends {
  readonly peer: AddressInfo;
  readonly local: AddressInfo;
}

export class Prefaces {
  readonly #expecting = new WeakSet<Server>();
  readonly #emits = new WeakMap<Server, unknown>();
  readonly #fromClients = new WeakSet<Socket>();

  /** Expects a preface on each connection that this server accepts from now on. */
  expect(server: Server): void {
    this.#expecting.add(server);
    if (this.#emits.get(server) === Reflect.get(server, 'emit')) return;
    const own = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : undefined;
    const prototype = Object.getPrototypeOf(server) as { readonly emit: Emit };
    const emit: Emit = (event, ...parts) => {
      // Looked up at each call, because tracing tools replace the prototype's emit at any time.
      const pass = (): boolean => Reflect.apply(own ?? prototype.emit, server, [event, ...parts]);
      const [socket] = parts;
      if (event !== 'connection' || !this.#isNew(server, socket)) return pass();
      this.#fromClients.add(socket);
      readPreface(socket, (ends) => {
        if (isBlocked(server, ends?.peer)) socket.destroy();
        else pass();
      });
      return true;
    };
    Object.assign(server, { emit });
    this.#emits.set(server, emit);
  }

  /** The server's next connections come without one. */
  end(server: Server): void {
    this.#expecting.delete(server);
  }

  /** Whether this is a client's own connection, on which the gateway changes nothing. */
  isFromClient(socket: unknown): boolean {
    if (!(socket instanceof Socket)) return false;
    const { _parent } = socket as Accepted;
    return this.#fromClients.has(_parent ?? socket);
  }

  /** False for what the app emits itself: a connection of another server, or one a second time. */
  #isNew(server: Server, socket: unknown): socket is Accepted {
    if (!this.#expecting.has(server) || !(socket instanceof Socket)) return false;
    return (socket as Accepted)._server === server && !this.#fromClients.has(socket);
  }
}

/**
 * Takes the preface before it gets into the stream, whose state would show that something was read. `push` is how Node
 * hands a stream what has come.
 */
function readPreface(socket: Accepted, done: (ends: Ends | undefined) => void): void {
  const handle = socket._handle;
  if (handle === null) return;
  const isPaused = handle.reading !== true;
  let got = Buffer.alloc(0);
  const ignore = (): void => {};
  const give = (): false => {
    noLater(timer);
    socket.destroy();
    return false;
  };
  // A loop that was blocked for so long looks at what has come meanwhile before it gives up.
  const timer = later(
    () => nextTurn(() => (Object.hasOwn(socket, 'push') ? give() : undefined)),
    WAIT_MS_MAX,
  );
  timer.unref();
  const push = (chunk: Buffer | null): boolean => {
    if (chunk === null) return give();
    got = Buffer.concat([got, chunk]);
    const bytes = got.indexOf('\n') + 1;
    if (bytes === 0 && got.length < LINE_BYTES_MAX) return true;
    const line = got.toString('latin1', 0, Math.min(bytes, LINE_BYTES_MAX));
    const read = parsePreface(line);
    if (read === undefined) return give();
    noLater(timer);
    Reflect.deleteProperty(socket, 'push');
    hidePreface(handle, bytes);
    if (read !== 'unknown') answerAddresses(handle, read);
    socket.write(ACKNOWLEDGEMENT);
    if (isPaused) handle.readStop();
    socket.off('error', ignore);
    // Nothing follows before the acknowledgement; what does all the same is the app's.
    const rest = got.subarray(bytes);
    const takesMore = rest.length === 0 || socket.push(rest);
    done(read === 'unknown' ? undefined : read);
    return takesMore;
  };
  socket.on('error', ignore);
  Object.assign(socket, { push });
  if (isPaused) handle.readStart();
}

/** A client of a unix socket has no addresses. Undefined for what is no preface. */
function parsePreface(line: string): Ends | 'unknown' | undefined {
  if (line === 'PROXY UNKNOWN\r\n') return 'unknown';
  const match = /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})\r\n$/.exec(line);
  if (match === null) return undefined;
  const [, version, peer = '', local = '', peerPort, localPort] = match;
  if (isIP(peer) !== Number(version) || isIP(local) !== Number(version)) return undefined;
  const family = `IPv${version}`;
  return {
    peer: { address: peer, family, port: Number(peerPort) },
    local: { address: local, family, port: Number(localPort) },
  };
}

/** Answers for addresses below the socket, so that the TLS socket around it and HTTP/2 sessions answer the same. */
function answerAddresses(handle: Handle, { peer, local }: Ends): void {
  const tell =
    (address: AddressInfo) =>
    (out: object): number => {
      Object.assign(out, address);
      return 0;
    };
  Object.assign(handle, { getpeername: tell(peer), getsockname: tell(local) });
}

/** The preface and its acknowledgement are none of what the app and its client exchange. */
function hidePreface(handle: Handle, preface_bytes: number): void {
  const hidden = { bytesRead: preface_bytes, bytesWritten: ACKNOWLEDGEMENT.length };
  const prototype = Object.getPrototypeOf(handle) as object;
  for (const [name, bytes] of Object.entries(hidden)) {
    const get = (): number => Number(Reflect.get(prototype, name, handle)) - bytes;
    Object.defineProperty(handle, name, { configurable: true, get });
  }
}

/** Node asks the block list when it accepts, where the address is not known yet. */
function isBlocked(server: Server, peer: AddressInfo | undefined): boolean {
  const { blockList } = server as { readonly blockList?: BlockList };
  return (
    peer !== undefined && blockList?.check(peer.address, peer.family === 'IPv6' ? 'ipv6' : 'ipv4') === true
  );
}
