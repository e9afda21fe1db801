/**
 * The gateway tells with one private header which request this is and who sent it. The header is taken away before
 * the app looks, and the socket answers with the client's address instead of the unix socket's lack of one.
 */
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

const HEADER = 'x-sluice-request';

const labelKey = Symbol('sluice.label');
const endpointsKey = Symbol('sluice.endpoints');

interface Endpoints {
  readonly label: string;
  readonly peer: AddressInfo | undefined;
  readonly local: AddressInfo | undefined;
  readonly encrypted: true | undefined;
}

interface LabelledSocket extends Socket {
  [labelKey]?: string;
  [endpointsKey]?: Endpoints;
}

/** Removes the private header and returns its value, or undefined for a request that is not from the gateway. */
export function takeLabel(request: IncomingMessage): string | undefined {
  const raw = request.rawHeaders;
  // Read first: Node makes it from `rawHeaders` and a count, which have to agree until then.
  const headers = request.headers;
  let label: string | undefined;
  // From the end, because the gateway writes its header last.
  for (let index = raw.length - 2; index >= 0; index -= 2) {
    const name = raw[index];
    if (name === undefined || name.length !== HEADER.length || name.toLowerCase() !== HEADER) continue;
    label = raw[index + 1];
    if (index === raw.length - 2) {
      raw.pop();
      raw.pop();
    } else raw.splice(index, 2);
    break;
  }
  if (label === undefined) return undefined;
  delete headers[HEADER];
  countOneHeaderLess(request);
  return label;
}

type HeadersCount = Record<symbol, unknown>;
let headersCountKey: symbol | undefined;

/** `headersDistinct` is made on demand from `rawHeaders` and a private count, which has to shrink with it. */
function countOneHeaderLess(request: IncomingMessage): void {
  const fields = request as unknown as HeadersCount;
  headersCountKey ??= Object.getOwnPropertySymbols(request).find(
    (key) => key.description === 'kHeadersCount',
  );
  const count = headersCountKey === undefined ? undefined : fields[headersCountKey];
  if (headersCountKey !== undefined && typeof count === 'number') {
    fields[headersCountKey] = count - 2;
    return;
  }
  // A Node that keeps its count elsewhere: answer in its place.
  const distinct: NodeJS.Dict<string[]> = Object.create(null) as NodeJS.Dict<string[]>;
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase() ?? '';
    (distinct[name] ??= []).push(request.rawHeaders[index + 1] ?? '');
  }
  Object.defineProperty(request, 'headersDistinct', { configurable: true, writable: true, value: distinct });
}

/** Maximum number of digits of a request's number. No more than a number holds exactly. */
const DIGITS_MAX = 15;
const [ZERO, NINE, SEMICOLON] = [48, 57, 59];

/** The number after `id=`, with which the label begins, or undefined where the gateway sent none. */
export function idOf(label: string): number | undefined {
  if (!label.startsWith('id=')) return undefined;
  let id = 0;
  let at = 3;
  for (; at < label.length; at += 1) {
    const code = label.charCodeAt(at);
    if (code === SEMICOLON) break;
    if (code < ZERO || code > NINE || at >= 3 + DIGITS_MAX) return undefined;
    id = id * 10 + (code - ZERO);
  }
  return at > 3 ? id : undefined;
}

/**
 * Number of requests of a light class that this request's CPU time stands for. 0 if it is not to be measured, because others
 * give the figure of its class. Undefined if each request is measured.
 */
export function weightOf(label: string): number | undefined {
  const at = label.indexOf(';weight=');
  if (at < 0) return undefined;
  const digit = label.charCodeAt(at + 8) - ZERO;
  return digit === 0 ? 0 : Number.parseInt(label.slice(at + 8), 10);
}

/** Whether the gateway knows this request for a long poll, which the app answers when there is something to tell. */
export function waits(label: string): boolean {
  return label.includes(';waits=1') && field(label, 'waits') === '1';
}

/** Makes the socket answer as the connection of the client named in the label. */
export function setPeer(socket: Socket, label: string): void {
  const labelled: LabelledSocket = socket;
  if (labelled[labelKey] === undefined) Object.defineProperties(socket, accessors);
  labelled[labelKey] = label;
}

const accessors: PropertyDescriptorMap & ThisType<LabelledSocket> = {
  remoteAddress: { configurable: true, get: endpointGetter((ends) => ends.peer?.address) },
  remotePort: { configurable: true, get: endpointGetter((ends) => ends.peer?.port) },
  remoteFamily: { configurable: true, get: endpointGetter((ends) => ends.peer?.family) },
  localAddress: { configurable: true, get: endpointGetter((ends) => ends.local?.address) },
  localPort: { configurable: true, get: endpointGetter((ends) => ends.local?.port) },
  localFamily: { configurable: true, get: endpointGetter((ends) => ends.local?.family) },
  encrypted: { configurable: true, get: endpointGetter((ends) => ends.encrypted), set: () => {} },
  address: {
    configurable: true,
    writable: true,
    value(): AddressInfo | object {
      return { ...endpointsOf(this).local };
    },
  },
  // Node resets TCP connections alone, and throws for a unix socket. The gateway breaks off the client's answer.
  resetAndDestroy: {
    configurable: true,
    writable: true,
    value(): Socket {
      return this.destroy();
    },
  },
};

function endpointGetter<T>(select: (ends: Endpoints) => T): (this: LabelledSocket) => T {
  return function get() {
    return select(endpointsOf(this));
  };
}

/** Read only when the app asks, and once per request, because most apps never do. */
function endpointsOf(socket: LabelledSocket): Endpoints {
  const label = socket[labelKey] ?? '';
  const known = socket[endpointsKey];
  if (known !== undefined && known.label === label) return known;
  const ends: Endpoints = {
    label,
    peer: readAddress(field(label, 'peer')),
    local: readAddress(field(label, 'local')),
    encrypted: field(label, 'proto') === 'https' ? true : undefined,
  };
  socket[endpointsKey] = ends;
  return ends;
}

function field(label: string, name: string): string | undefined {
  for (const part of label.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/** `192.0.2.1:80` or `[2001:db8::1]:80`. */
function readAddress(text: string | undefined): AddressInfo | undefined {
  const match = text === undefined ? null : /^(?:\[([0-9a-fA-F:.%\w]+)\]|([\d.]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, address6, address4, port] = match;
  if (address6 !== undefined) return { address: address6, family: 'IPv6', port: Number(port) };
  if (address4 !== undefined) return { address: address4, family: 'IPv4', port: Number(port) };
  return undefined;
}
