/**
 * Catches `listen()` and decides what each call gets:
 *
 * - an HTTP server on the port that is meant (the gateway's own, or one of the config) becomes the main server, on the socket for the
 *   gateway;
 * - any other that listens before it waits a while for such a one, and the first of them becomes the main server then;
 * - one that asks for the port that is meant takes that role over later, too;
 * - any other claim to the main address gets a spare socket, so that probes for a free port and second addresses succeed without holding
 *   anything;
 * - further fixed addresses are bound by the gateway, which passes their connections on (aux);
 * - port 0 stays with this process, on loopback.
 *
 * Several processes of a worker may open servers; the role is claimed by the one that has the main server. Later servers of other
 * processes are Node's.
 */
import type { Cluster } from 'node:cluster';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, isIP, Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { answerOf } from '../requests/answer.js';
import { keepAnswersApart } from '../answers/answers.js';
import { answerAddress, type ListenCall, readListenCall } from './address.js';
import { offerBreathing } from '../requests/breathing.js';
import { best, type Candidate, Candidates } from './candidates.js';
import { claimRole, isClaimed } from './claim.js';
import { keepBoot } from './compile-cache.js';
import type { Control } from '../control/control.js';
import type { Settings } from '../env.js';
import { Handed } from '../requests/handed.js';
import type { Hooks } from '../requests/hooks.js';
import { watchEventStreams } from '../requests/leaving.js';
import { offerLooks } from '../requests/looks.js';
import { prepareMainServer } from './main-server.js';
import type { ListenAddress, ToGateway } from '../control/messages.js';
import { isSecureHttp2, Misfits } from './misfits.js';
import { OwnCpu } from '../cpu/own-cpu.js';
import type { PageTags } from '../answers/page-tags.js';
import { Prefaces } from './preface.js';
import { refuseEarlyConnections } from './own-port.js';
import { offerProfiles } from '../profiles/profiles.js';
import { Report } from '../control/report.js';
import { Requests } from '../requests/requests.js';
import type { Routers } from '../routes/routers.js';
import { Tails } from '../profiles/tail.js';
import { later, nextTurn } from '../timers.js';
import { tellThrown } from '../control/thrown.js';

/** Time for which an app may have others than the server that `app.port` names before that is reported. */
const REMIND_MS = 3000;

/** Loads built-in modules only when the app has surely loaded them itself. */
const require = createRequire(import.meta.url);

type Listen = (this: Server, ...parts: unknown[]) => Server;

/** Returns what decides at once which server is the main one, if it is not known yet. */
export function catchListen(
  settings: Settings,
  control: Control,
  hooks: Hooks,
  routers: Routers,
  pageTags?: PageTags,
): () => void {
  const listen = Server.prototype.listen as Listen;
  const roles = new Roles(settings, control, hooks, routers, listen, pageTags);
  Object.assign(Server.prototype, {
    listen(this: Server, ...parts: unknown[]): Server {
      routers.serves(this);
      const call = this.listening ? undefined : readListenCall(parts);
      if (call === undefined || !roles.place(this, call)) return Reflect.apply(listen, this, parts);
      return this;
    },
  });
  return () => roles.decide(0);
}

interface Main {
  readonly server: HttpServer;
  readonly requested: ListenAddress;
  /** Passes the gateway's connections on to a server that has an address of its own. */
  readonly door: Server | undefined;
}

class Roles {
  readonly #settings: Settings;
  readonly #control: Control;
  readonly #hooks: Hooks;
  readonly #routers: Routers;
  readonly #listen: Listen;
  readonly #pageTags: PageTags | undefined;
  #requests: Requests | undefined;
  readonly #candidates: Candidates;
  readonly #misfits: Misfits;
  readonly #prefaces = new Prefaces();
  #main: Main | undefined;
  #wasTold = false;
  #socketsMade = 0;
  #isReminded = false;
  #connectFreely: (() => void) | undefined;

  constructor(
    settings: Settings,
    control: Control,
    hooks: Hooks,
    routers: Routers,
    listen: Listen,
    pageTags?: PageTags,
  ) {
    this.#settings = settings;
    this.#control = control;
    this.#hooks = hooks;
    this.#routers = routers;
    this.#listen = listen;
    this.#pageTags = pageTags;
    this.#candidates = new Candidates(settings.mainWait_ms, (waited_ms) => this.decide(waited_ms));
    this.#misfits = new Misfits(
      () => this.#requests !== undefined || this.#candidates.areThere || isClaimed(settings.socketPath),
    );
    if (settings.refusesEarly && settings.portPublic !== 0)
      this.#connectFreely = refuseEarlyConnections(settings.portPublic, () => this.#isServed());
  }

  /** Whether the app listens: a server of this process that was closed again, such as a probe for a free port, does not count. */
  #isServed(): boolean {
    if (this.#requests !== undefined) return this.#main?.server.listening === true;
    const isElsewhere = isClaimed(this.#settings.socketPath);
    // It stays so, and there is nothing left to refuse here.
    if (isElsewhere) this.#connectFreely?.();
    return isElsewhere;
  }

  /** False when the call is Node's to answer. */
  place(server: Server, call: ListenCall): boolean {
    const { requested } = call;
    const main = this.#main?.server.listening === true ? this.#main : undefined;
    if (isHttpServer(server)) {
      const isPlaced = this.#placeHttp(server, call, main);
      if (isPlaced !== undefined) return isPlaced;
    } else if (main === undefined && requested.port !== 0) {
      this.#misfits.note(server, requested, this.#rank(requested) > 0);
    }
    if (this.#isMainPort(requested, main)) return this.#listenAsSpare(server, call);
    if (this.#requests === undefined) return false;
    if (requested.port === 0) return this.#listenOnLoopback(server, call);
    if (requested.port === null && requested.path === null) return false;
    return this.#listenAsAux(server, call);
  }

  /** Undefined where an HTTP server is placed like any other. */
  #placeHttp(server: HttpServer, call: ListenCall, main: Main | undefined): boolean | undefined {
    const rank = this.#rank(call.requested);
    if (main !== undefined) {
      if (rank <= this.#rank(main.requested)) return undefined;
      this.#moveAside(main);
      return this.#listenAsMain(server, call);
    }
    if (rank > 0 && this.#hasRole()) return this.#listenAsMain(server, call);
    if (this.#requests === undefined && isClaimed(this.#settings.socketPath))
      return isClusterWorker() ? this.#listenAsSpare(server, call) : undefined;
    return this.#listenAsCandidate(server, call);
  }

  /** Makes the best of those that listen the main server: none on the port that is meant has come in `waited_ms`. */
  decide(waited_ms: number): void {
    if (this.#main?.server.listening === true || this.#settings.mainWait_ms === Infinity) return;
    const candidates = this.#candidates.take();
    const chosen = best(candidates);
    if (chosen === undefined) return;
    const others = candidates.filter((candidate) => candidate !== chosen);
    if (!this.#hasRole()) return this.#leaveToProcess(candidates);
    this.#promote(chosen, others, waited_ms);
    this.#openAside(others);
  }

  /** Claims the role at the first call and keeps it for a server that is closed and replaced. */
  #hasRole(): boolean {
    if (this.#requests !== undefined) return true;
    if (!claimRole(this.#settings.socketPath)) return false;
    const cpu = new OwnCpu(this.#settings.measuresShared);
    const report = new Report(this.#control, this.#settings.rendersFast, cpu, this.#routers);
    const handed = new Handed();
    const tails = new Tails(this.#control, this.#settings.socketPath);
    this.#requests = new Requests(this.#settings, report, this.#hooks, cpu, handed, tails, this.#pageTags);
    const requests = this.#requests;
    offerLooks(this.#control, () => requests.moves);
    offerProfiles(this.#control, requests, this.#routers, () => cpu.watch.serveOperator());
    offerBreathing(this.#control, requests, cpu, this.#settings.socketPath);
    const responses = http().ServerResponse.prototype;
    watchEventStreams(responses);
    this.#pageTags?.watch(responses);
    const send = (message: ToGateway): void => void this.#control.send(message);
    const marks = keepAnswersApart(responses, send, (response) =>
      cpu.writes(answerOf(response)?.ticket?.cpu),
    );
    this.#control.open(marks, handed.open(this.#settings.socketPath));
    report.start(this.#settings.watchesRuns);
    tellThrown(this.#control, cpu);
    if (isClusterWorker()) warnOfCluster();
    return true;
  }

  /** Returns how surely a server is meant to be the main one, by the port that it asks for; 0 for not at all. */
  #rank({ port }: ListenAddress): number {
    if (port === null || port === 0) return 0;
    const { mainPort, mainWait_ms, portPublic } = this.#settings;
    if (mainWait_ms === Infinity) return port === mainPort ? 3 : 0;
    if (port === portPublic) return 2;
    return port === mainPort || port === this.#main?.requested.port ? 1 : 0;
  }

  #isMainPort(requested: ListenAddress, main: Main | undefined): boolean {
    if (requested.port === null || requested.port === 0) return false;
    return requested.port === this.#settings.portPublic || requested.port === main?.requested.port;
  }

  #listenAsMain(server: HttpServer, call: ListenCall): boolean {
    const requests = this.#requests;
    if (requests === undefined) return false;
    const { requested } = call;
    this.#prepare(server, requests);
    const socketPath = this.#freshSocket();
    this.#listenOnSocket(server, socketPath, call, answerAddress(requested, this.#settings.portPublic));
    if (!server.listening) return true; // Its 'error' event tells the app.
    renameSync(socketPath, this.#settings.socketPath);
    this.#tellOfMain({ server, requested, door: undefined }, null, []);
    this.#openAside(this.#candidates.take());
    return true;
  }

  /** Listens where nobody comes yet; an inner server on port 0 has its own address from the start. */
  #listenAsCandidate(server: HttpServer, call: ListenCall): boolean {
    const { requested } = call;
    if (requested.port === 0) {
      this.#listenOnLoopback(server, call);
      this.#candidates.add({ server, requested, socketPath: undefined });
      return true;
    }
    const socketPath = this.#freshSocket();
    this.#listenOnSocket(server, socketPath, call, answerAddress(requested, 0));
    if (!server.listening) return true;
    this.#candidates.add({ server, requested, socketPath });
    if (this.#settings.mainWait_ms === Infinity) later(() => this.#remind(requested), REMIND_MS).unref();
    return true;
  }

  /** The start may fail for it, so the reason is written down before. */
  #remind(requested: ListenAddress): void {
    if (this.#isReminded || this.#main !== undefined) return;
    this.#isReminded = true;
    const where = requested.path ?? `port ${requested.port}`;
    warn(
      `the app listens on ${where}, and not yet on port ${this.#settings.mainPort}, which app.port names.`,
    );
  }

  #promote(
    { server, requested, socketPath }: Candidate,
    others: readonly Candidate[],
    waited_ms: number,
  ): void {
    const requests = this.#requests;
    if (requests === undefined) return;
    this.#prepare(server, requests);
    let door: Server | undefined;
    if (socketPath === undefined) {
      door = this.#openDoor(server, { path: this.#settings.socketPath });
      chmodSync(this.#settings.socketPath, 0o600);
    } else renameSync(socketPath, this.#settings.socketPath);
    this.#tellOfMain({ server, requested, door }, waited_ms, others);
  }

  #prepare(server: HttpServer, requests: Requests): void {
    prepareMainServer(server, requests, isTlsServer(server), (socket) => this.#prefaces.isFromClient(socket));
  }

  #tellOfMain(main: Main, waited_ms: number | null, others: readonly Candidate[]): void {
    const { server, requested, door } = main;
    this.#main = main;
    let isTold = false;
    onClosing(server, () => {
      door?.close();
      if (this.#main !== main) return;
      // Node takes away only the name under which a server began to listen.
      rmSync(this.#settings.socketPath, { force: true });
      if (isTold) this.#control.send({ type: 'closing' });
    });
    // A probe for a free port closes its server in the same turn, and a worker that closes its server is replaced.
    nextTurn(() => {
      if (this.#main !== main || !server.listening) return;
      isTold = true;
      this.#connectFreely?.();
      if (!this.#wasTold) keepBoot(() => this.#requests?.isIdle ?? true);
      this.#wasTold = true;
      this.#control.send({
        type: 'listening',
        requested,
        tls: isTlsServer(server),
        waited_ms,
        others: others.map((other) => other.requested),
      });
    });
  }

  /** Opens servers that turned out not to be the main one. A server on port 0 needs nothing more. */
  #openAside(candidates: readonly Candidate[]): void {
    for (const { server, requested, socketPath } of candidates) {
      if (socketPath !== undefined) this.#announceAux(server, requested, socketPath);
    }
  }

  /** Another process of this worker has the main server, and the word with the gateway. */
  #leaveToProcess(candidates: readonly Candidate[]): void {
    if (isClusterWorker()) return;
    for (const { server, requested, socketPath } of candidates) {
      if (socketPath === undefined) continue;
      const { host, path, port } = requested;
      this.#openDoor(server, path === null ? { port, ...(host === null ? {} : { host }) } : { path });
    }
  }

  /** Another way in for a server that listens already. */
  #openDoor(server: HttpServer, address: object): Server {
    const door = new Server({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', socket);
    });
    door.on('error', (error) => warn(`a server of this app cannot listen: ${error.message}`));
    this.#callNode(door, { ...address, exclusive: true }, undefined);
    onClosing(server, () => door.close());
    return door;
  }

  /** Moves a former main server to another path, which a unix socket allows while it listens. */
  #moveAside(main: Main): void {
    const { server, requested, door } = main;
    this.#main = undefined;
    if (door !== undefined) door.close();
    else {
      const socketPath = this.#freshSocket();
      renameSync(this.#settings.socketPath, socketPath);
      this.#announceAux(server, requested, socketPath);
    }
    server.closeIdleConnections();
  }

  #listenAsAux(server: Server, call: ListenCall): boolean {
    const { requested } = call;
    const socketPath = this.#freshSocket();
    this.#listenOnSocket(server, socketPath, call, answerAddress(requested, 0));
    if (server.listening) this.#announceAux(server, requested, socketPath);
    return true;
  }

  #announceAux(server: Server, requested: ListenAddress, socket: string): void {
    this.#prefaces.expect(server);
    this.#control.send({ type: 'aux', ...requested, socket, preface: true });
    onClosing(server, () => {
      this.#prefaces.end(server);
      this.#control.send({ type: 'aux-closed', socket });
    });
  }

  #listenAsSpare(server: Server, call: ListenCall): boolean {
    const answer = answerAddress(call.requested, this.#settings.portPublic);
    this.#listenOnSocket(server, this.#freshSocket(), call, answer);
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

  /** No other process or thread of this worker uses it: an agent in NODE_OPTIONS opens its server in each of them. */
  #freshSocket(): string {
    this.#socketsMade += 1;
    const name = `${process.pid}-${threadId}-${this.#socketsMade}.sock`;
    return join(dirname(this.#settings.socketPath), name);
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

function allowsHttp1(server: Server): boolean {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === 'options');
  const options: unknown =
    key === undefined ? undefined : (server as unknown as Record<symbol, unknown>)[key];
  return (
    typeof options === 'object' && options !== null && 'allowHTTP1' in options && options.allowHTTP1 === true
  );
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
