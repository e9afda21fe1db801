/**
 * Catches `listen()` and decides what each call gets:
 *
 * - the first HTTP server becomes the main server, on the socket that the gateway talks to;
 * - an HTTP server that asks for the gateway's own port takes that role over from one that asked for another port;
 * - any other claim to the main address gets a spare socket, so that probes for a free port and second
 *   addresses of one server succeed without holding anything;
 * - further fixed addresses are bound by the gateway, which passes their connections on (aux);
 * - port 0 stays with this process, on loopback.
 *
 * Until this process has the role, everything but the main address is left to Node.
 */
import type { Cluster } from 'node:cluster';
import { chmodSync, renameSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, isIP, Server } from 'node:net';
import { dirname, join } from 'node:path';
import { keepAnswersApart } from './answers.js';
import { answerAddress, type ListenCall, readListenCall } from './address.js';
import { claimRole } from './claim.js';
import type { Control } from './control.js';
import type { Settings } from './env.js';
import type { Hooks } from './hooks.js';
import { prepareMainServer } from './main-server.js';
import type { Requested } from './messages.js';
import { Report } from './report.js';
import { Requests, watchEventStreams } from './requests.js';

/** Loads built-in modules only when the app has surely loaded them itself. */
const require = createRequire(import.meta.url);

type Listen = (this: Server, ...parts: unknown[]) => Server;

export function catchListen(settings: Settings, control: Control, hooks: Hooks): void {
  const listen = Server.prototype.listen as Listen;
  const roles = new Roles(settings, control, hooks, listen);
  Object.assign(Server.prototype, {
    listen(this: Server, ...parts: unknown[]): Server {
      const call = this.listening ? undefined : readListenCall(parts);
      if (call === undefined || !roles.place(this, call)) return Reflect.apply(listen, this, parts);
      return this;
    },
  });
}

interface Main {
  readonly server: HttpServer;
  readonly requested: Requested;
}

class Roles {
  readonly #settings: Settings;
  readonly #control: Control;
  readonly #hooks: Hooks;
  readonly #listen: Listen;
  #requests: Requests | undefined;
  #main: Main | undefined;
  #socketsMade = 0;

  constructor(settings: Settings, control: Control, hooks: Hooks, listen: Listen) {
    this.#settings = settings;
    this.#control = control;
    this.#hooks = hooks;
    this.#listen = listen;
  }

  /** False when the call is Node's to answer. */
  place(server: Server, call: ListenCall): boolean {
    const { requested } = call;
    const main = this.#main?.server.listening === true ? this.#main : undefined;
    if (isHttpServer(server)) {
      if (main === undefined && this.#hasRole()) return this.#listenAsMain(server, call);
      if (main !== undefined && this.#takesOver(requested, main.requested)) {
        this.#moveAside(main);
        return this.#listenAsMain(server, call);
      }
      if (main === undefined && isClusterWorker()) return this.#listenAsSpare(server, call);
    }
    if (this.#isMainPort(requested, main)) return this.#listenAsSpare(server, call);
    if (this.#requests === undefined) return false;
    if (requested.port === 0) return this.#listenOnLoopback(server, call);
    if (requested.port === null && requested.path === null) return false;
    return this.#listenAsAux(server, call);
  }

  /** Claims the role at the first call and keeps it for a server that is closed and replaced. */
  #hasRole(): boolean {
    if (this.#requests !== undefined) return true;
    if (!claimRole(this.#settings.socketPath)) return false;
    const report = new Report(this.#control, this.#settings.rendersFast);
    this.#requests = new Requests(this.#settings.concurrency, report, this.#hooks);
    const responses = http().ServerResponse.prototype;
    watchEventStreams(responses);
    this.#control.open(keepAnswersApart(responses, (message) => void this.#control.send(message)));
    report.start();
    if (isClusterWorker()) warnOfCluster();
    return true;
  }

  #takesOver(requested: Requested, current: Requested): boolean {
    const port = this.#settings.portPublic;
    return port !== 0 && requested.port === port && current.port !== port;
  }

  #isMainPort(requested: Requested, main: Main | undefined): boolean {
    if (requested.port === null || requested.port === 0) return false;
    return requested.port === this.#settings.portPublic || requested.port === main?.requested.port;
  }

  #listenAsMain(server: HttpServer, call: ListenCall): boolean {
    const requests = this.#requests;
    if (requests === undefined) return false;
    const { requested } = call;
    const main = { server, requested };
    prepareMainServer(server, requests, isTlsServer(server));
    this.#listenOnSocket(
      server,
      this.#settings.socketPath,
      call,
      answerAddress(requested, this.#settings.portPublic),
    );
    if (!server.listening) return true; // Its 'error' event tells the app.
    this.#main = main;
    onClosing(server, () => {
      if (this.#main === main) this.#control.send({ type: 'closing' });
    });
    this.#control.send({ type: 'listening', requested });
    return true;
  }

  /** A unix socket can be renamed while it listens, so the former main server goes on at another path. */
  #moveAside(main: Main): void {
    const { server, requested } = main;
    const socketPath = requested.port === 0 ? this.#spareSocket() : this.#auxSocket(requested.port);
    this.#main = undefined;
    renameSync(this.#settings.socketPath, socketPath);
    server.closeIdleConnections();
    if (requested.port !== 0) this.#announceAux(server, requested, socketPath);
  }

  #listenAsAux(server: Server, call: ListenCall): boolean {
    const { requested } = call;
    const socketPath = this.#auxSocket(requested.port);
    this.#listenOnSocket(server, socketPath, call, answerAddress(requested, 0));
    if (server.listening) this.#announceAux(server, requested, socketPath);
    return true;
  }

  #announceAux(server: Server, requested: Requested, socket: string): void {
    this.#control.send({ type: 'aux', ...requested, socket });
    onClosing(server, () => this.#control.send({ type: 'aux-closed', socket }));
  }

  #listenAsSpare(server: Server, call: ListenCall): boolean {
    const answer = answerAddress(call.requested, this.#settings.portPublic);
    this.#listenOnSocket(server, this.#spareSocket(), call, answer);
    return true;
  }

  #listenOnLoopback(server: Server, call: ListenCall): boolean {
    const { host } = call.requested;
    const isLoopback = host === 'localhost' || host === '::1' || host?.startsWith('127.') === true;
    const address = isLoopback
      ? host
      : host !== null && isIP(host) === 6 && host !== '::'
        ? '::1'
        : '127.0.0.1';
    this.#callNode(server, { ...call.options, port: 0, host: address, exclusive: true }, call.callback);
    return true;
  }

  #listenOnSocket(server: Server, socketPath: string, call: ListenCall, answer: AddressInfo | string): void {
    // Exclusive, because in a node:cluster worker the primary would otherwise listen in its place.
    this.#callNode(server, { ...call.options, path: socketPath, exclusive: true }, call.callback);
    if (!server.listening) return;
    Object.assign(server, {
      address: () => (server.listening ? (typeof answer === 'string' ? answer : { ...answer }) : null),
    });
    // Its folder is private already; this keeps the rule where somebody loosens that.
    chmodSync(socketPath, 0o600);
  }

  #callNode(server: Server, options: object, callback: (() => void) | undefined): void {
    Reflect.apply(this.#listen, server, callback === undefined ? [options] : [options, callback]);
  }

  #auxSocket(port: number | null): string {
    this.#socketsMade += 1;
    const name = `${this.#settings.worker}-${port ?? 'path'}-${this.#socketsMade}.sock`;
    return join(dirname(this.#settings.socketPath), name);
  }

  #spareSocket(): string {
    this.#socketsMade += 1;
    return `${this.#settings.socketPath}.${process.pid}-${this.#socketsMade}`;
  }
}

function http(): typeof import('node:http') {
  return require('node:http') as typeof import('node:http');
}

function isHttpServer(server: Server): server is HttpServer {
  if (server instanceof http().Server) return true;
  if (server instanceof (require('node:https') as typeof import('node:https')).Server) return true;
  return isSecureHttp2(server) && allowsHttp1(server);
}

function isTlsServer(server: Server): boolean {
  return server instanceof (require('node:tls') as typeof import('node:tls')).Server;
}

/** The class is not exported. */
function isSecureHttp2(server: Server): boolean {
  for (let proto: unknown = server; proto !== null; proto = Object.getPrototypeOf(proto)) {
    if ((proto as object).constructor.name === 'Http2SecureServer') return true;
  }
  return false;
}

function allowsHttp1(server: Server): boolean {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === 'options');
  const options: unknown =
    key === undefined ? undefined : (server as unknown as Record<symbol, unknown>)[key];
  const allowed =
    typeof options === 'object' && options !== null && 'allowHTTP1' in options && options.allowHTTP1 === true;
  if (!allowed) warn('an HTTP/2 server without allowHTTP1 cannot be served; set allowHTTP1: true.');
  return allowed;
}

function isClusterWorker(): boolean {
  return (require('node:cluster') as Cluster).isWorker;
}

function warnOfCluster(): void {
  warn(
    'this app forks its own node:cluster. One of its processes serves, the others idle; let Sluice start the workers instead.',
  );
}

function warn(text: string): void {
  process.stderr.write(`sluice: ${text}\n`);
}

/** Runs when the app starts to close the server, which is before its last connections have ended. */
function onClosing(server: Server, listener: () => void): void {
  const close = server.close.bind(server);
  Object.assign(server, {
    close(callback?: (error?: Error) => void): Server {
      if (server.listening) listener();
      return close(callback);
    },
  });
}
