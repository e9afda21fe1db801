/**
 * Reads the arguments of `listen()` the way Node does, and answers `address()` as the app expects. Pure. Arguments that
 * it does not understand go to Node, which throws the right error.
 */
import { type AddressInfo, isIP } from 'node:net';
import type { ListenAddress } from '../control/messages.js';

export interface ListenCall {
  readonly requested: ListenAddress;
  /** Options that have to be passed on to Node with another address: backlog, signal. */
  readonly options: { readonly backlog?: number; readonly signal?: AbortSignal };
  readonly callback: (() => void) | undefined;
}

/** Undefined for calls that are wrong, or that pass on a handle. */
export function readListenCall(parts: readonly unknown[]): ListenCall | undefined {
  const last = parts.at(-1);
  const callback = typeof last === 'function' ? (last as () => void) : undefined;
  const values = callback === undefined ? parts : parts.slice(0, -1);
  const [first, second] = values;
  const backlog = values.slice(1).find((value): value is number => typeof value === 'number');

  if (typeof first === 'object' && first !== null) return readOptions(first, callback, backlog);
  const options = backlog === undefined ? {} : { backlog };
  if (typeof first === 'string' && !(Number(first) >= 0)) {
    return { requested: { port: null, host: null, path: first }, options, callback };
  }
  const port = readPort(first);
  if (port === undefined) return undefined;
  return {
    requested: { port, host: typeof second === 'string' ? second : null, path: null },
    options,
    callback,
  };
}

function readOptions(
  value: object,
  callback: (() => void) | undefined,
  second: number | undefined,
): ListenCall | undefined {
  const given = value as Record<string, unknown>;
  if ('_handle' in value || 'handle' in value) return undefined;
  const { port, host, path, fd, signal } = given;
  const backlog = given['backlog'] ?? second;
  const options = {
    ...(typeof backlog === 'number' ? { backlog } : {}),
    ...(signal instanceof AbortSignal ? { signal } : {}),
  };
  const requestedHost = typeof host === 'string' && host !== '' ? host : null;
  if (typeof fd === 'number' && fd >= 0) {
    return { requested: { port: null, host: null, path: null }, options, callback };
  }
  // Node prefers the port where both are given.
  if (port === undefined || port === null) {
    if (typeof path === 'string' && path !== '') {
      return { requested: { port: null, host: null, path }, options, callback };
    }
    if (!('port' in value)) return undefined;
  }
  const number = readPort(port);
  if (number === undefined) return undefined;
  return { requested: { port: number, host: requestedHost, path: null }, options, callback };
}

function readPort(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const port = Number(value);
  return Number.isInteger(port) && port >= 0 && port <= 65535 ? port : undefined;
}

/** Returns what `server.address()` says; port 0 means that the app left the choice to the system. */
export function answerAddress(requested: ListenAddress, portFor0: number): AddressInfo | string {
  if (requested.path !== null) return requested.path;
  const port = requested.port === null || requested.port === 0 ? portFor0 : requested.port;
  const address = numericHost(requested.host);
  return { address, family: isIP(address) === 4 ? 'IPv4' : 'IPv6', port };
}

function numericHost(host: string | null): string {
  if (host === null || host === '') return '::';
  if (isIP(host) !== 0) return host;
  return host === 'localhost' ? '127.0.0.1' : '0.0.0.0';
}
