/**
 * Servers that the gateway cannot talk to, because they do not speak HTTP/1.1. An app that has no others gets
 * the reason, because a wait for it would not end. It must not know what servers get.
 */
import { writeSync } from 'node:fs';
import type { Server } from 'node:net';
import type { ListenAddress } from '../control/messages.js';
import { later } from '../timers.js';

/** Probes for a free port are closed by then. */
const LOOK_AFTER_MS = 1000;

// Taken before the app can replace it.
const exit = process.exit.bind(process);

export class Misfits {
  readonly #isServed: () => boolean;
  #isTold = false;

  /** `isServed`: whether the app has an HTTP server, here or in another process. */
  constructor(isServed: () => boolean) {
    this.#isServed = isServed;
  }

  /** `isMeant`: it has the port on which the gateway expects the app. */
  note(server: Server, requested: ListenAddress, isMeant: boolean): void {
    if (isMeant && isHttp2(server)) return this.#tell(server, requested, isMeant);
    later(() => {
      // Without a listener for connections it is not there to be talked to, and a tool's own (tsx) does not keep the process.
      if (server.listening && server.listenerCount('connection') > 0 && !isLetGo(server))
        this.#tell(server, requested, isMeant);
    }, LOOK_AFTER_MS).unref();
  }

  #tell(server: Server, requested: ListenAddress, isMeant: boolean): void {
    if (this.#isTold || this.#isServed()) return;
    this.#isTold = true;
    const where = requested.path ?? `port ${requested.port}`;
    const text = `the app listens on ${where} with ${kindOf(server)}, and Sluice serves HTTP/1.1. ${remedyOf(server)}`;
    say(isMeant ? text : `${text} No HTTP server of the app listens so far.`);
    // Nothing can come of this start: one server at most has the port.
    if (isMeant) exit(1);
  }
}

/** Whether `unref()` was called: the process may end in spite of it. */
export function isLetGo(server: Server): boolean {
  return (server as { _unref?: unknown })._unref === true;
}

/** HTTP/2 without the fallback to HTTP/1.1, or in clear, which has none. The classes are not exported. */
export function isHttp2(server: Server): boolean {
  return isNamed(server, 'Http2Server') || isSecureHttp2(server);
}

export function isSecureHttp2(server: Server): boolean {
  return isNamed(server, 'Http2SecureServer');
}

function isNamed(server: Server, name: string): boolean {
  for (let proto: unknown = server; proto !== null; proto = Object.getPrototypeOf(proto)) {
    if ((proto as object).constructor.name === name) return true;
  }
  return false;
}

function kindOf(server: Server): string {
  if (isSecureHttp2(server)) return 'an HTTP/2 server without allowHTTP1';
  if (isHttp2(server)) return 'an HTTP/2 server without TLS (http2.createServer)';
  return `a plain ${server.constructor.name === 'Server' ? 'net.Server' : server.constructor.name}, which is not an HTTP server`;
}

function remedyOf(server: Server): string {
  if (isSecureHttp2(server)) return 'Set allowHTTP1: true, or use http.createServer().';
  return 'Use http.createServer(), or name the port of the HTTP server: app.port.';
}

function say(text: string): void {
  try {
    // At once, because the process may end with the next line.
    writeSync(2, `sluice: ${text}\n`);
  } catch {
    // A full pipe, or nobody reads any more; the exit says the rest.
  }
}
