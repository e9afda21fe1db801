/**
 * A request's stay with the app: label off, through the gate, past the app's hooks, handed over, measured, and released. It is released
 * when the response has ended, the loop has turned once more, and the hooks that follow a request have run. A client that went away
 * releases nothing: only the app does, by ending its response or destroying it. If it never does, the gateway replaces the worker.
 *
 * The gateway takes a response for ended when its last announced byte has come. If the app has not ended it then, the next request goes
 * back to the gateway's queue unseen by the app, so that another worker can have it. So it does if the hooks take long.
 */
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Abandoned } from './abandoned.js';
import { forgetAnswer } from './answer.js';
import { answersOn, leaveToApp } from '../answers/answers.js';
import type { Settings } from '../env.js';
import { type Entrant, Gate } from './gate.js';
import { type Handed, isHanded } from './handed.js';
import { handedToApp } from '../cpu/handler-clock.js';
import { type Hooks, warn } from './hooks.js';
import { leaveAtFirstWrite, leaveWithResponse } from './leaving.js';
import type { Leaving } from '../control/messages.js';
import { idOf, setPeer, takeLabel, waits, weightOf } from './peer.js';
import type { OwnCpu } from '../cpu/own-cpu.js';
import type { PageTags } from '../answers/page-tags.js';
import type { Account } from '../cpu/own-cpu-runs.js';
import type { Report } from '../control/report.js';
import { type EndTail, type Tails, tailOf } from '../profiles/tail.js';
import { type Ticket, hooked, isAnother, isCutOff, isUnended, outcomeOf } from './ticket.js';
import { later, nextTurn, now_ms as now } from '../timers.js';

/** Maximum number of requests that wait inside a worker. */
const WAITING_MAX = 1000;
const UNREAD_MS = 50;
/** The app never had it. */
const UNKNOWN = { cpu_us: 0, isShared: true };
/** Most apps that write their last byte before they call `end()` call it within a turn or two. */
const LATE_END_MS = 5;

export type HandOver = () => void;

type Limits = Pick<Settings, 'concurrency' | 'isWhileWaiting'>;

/** One of the three becomes of a request that comes in. */
interface Newcomer extends Entrant {
  /** Gives it back to the gateway: its own socket is not needed any more. */
  giveBack(): void;
  /** Whether the gateway may have sent it because it takes this other one, which is still here, for ended. */
  follows(other: Ticket): boolean;
}

/** Listener for requests while a profile is taken. */
export interface Follower {
  entered(id: number, account: Account): void;
  left(id: number): void;
  /** Notes that from now on, or since this was said last, the continuation of this one runs. */
  ran(account: Account | undefined, isSince: boolean): void;
}

export class Requests {
  readonly #gate: Gate;
  readonly #report: Report;
  readonly #hooks: Hooks;
  readonly #limits: Limits;
  readonly #inApp = new Set<Ticket>();
  /** Requests that the app was given or has let go, so far. */
  moves = 0;
  readonly #abandoned = new Abandoned();
  readonly #cpu: OwnCpu;
  readonly #handed: Handed;
  readonly #tails: Tails | undefined;
  readonly #pageTags: PageTags | undefined;
  readonly #ends = new Map<Ticket, EndTail>();
  #follower: Follower | undefined;

  constructor(
    limits: Limits,
    report: Report,
    hooks: Hooks,
    cpu: OwnCpu,
    handed: Handed,
    tails?: Tails,
    pageTags?: PageTags,
  ) {
    this.#limits = limits;
    this.#gate = new Gate(() => this.#held_max, WAITING_MAX);
    this.#cpu = cpu;
    this.#report = report;
    this.#hooks = hooks;
    this.#handed = handed;
    this.#tails = tails;
    this.#pageTags = pageTags;
  }

  /** The app holds no request. */
  get isIdle(): boolean {
    return this.#inApp.size === 0;
  }

  /** Tells this one of requests from now on, in place of any before. */
  follow(follower: Follower): void {
    this.#follower = follower;
    for (const { label, cpu } of this.#inApp) follower.entered(idOf(label) ?? 0, cpu);
    // Alone, it is the one that runs.
    if (this.#held_max > 1) this.#cpu.follow((account, isSince) => follower.ran(account, isSince));
  }

  unfollow(follower: Follower): void {
    if (this.#follower !== follower) return;
    this.#follower = undefined;
    this.#cpu.follow(undefined);
  }

  /** Requests in the app's hands. */
  get inside(): number {
    return this.#inApp.size;
  }

  get #held_max(): number {
    const { concurrency, isWhileWaiting } = this.#limits;
    // What puts global state back between requests is one at a time, unless the user has asked for so many.
    return isWhileWaiting && this.#hooks.hasHadReset ? 1 : concurrency;
  }

  /** Answers 'request', 'checkContinue' and 'checkExpectation'. */
  respond(request: IncomingMessage, response: ServerResponse, handOver: HandOver): void {
    const label = takeLabel(request);
    // Not from the gateway, or emitted a second time by the app itself.
    if (label === undefined) return handOver();
    const { socket } = request;
    answersOn(socket, response, label);
    // Nearly always: nothing is made that only a request that waits needs.
    if (this.#mayEnter(socket)) return this.#begin(label, request, response, handOver);
    this.#admitLater(label, socket, {
      enter: () => this.#begin(label, request, response, handOver),
      refuse: () => response.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end(),
      giveBack: () => {},
      follows: request.headers.upgrade === undefined && !isHanded(label) ? isCutOff : isAnother,
    });
  }

  /** A request ended in the parser. Told a little later, when the gateway has seen the connection close. */
  unread(): void {
    setTimeout(() => {
      if (this.#inApp.size === 0) this.#report.idle();
    }, UNREAD_MS).unref();
  }

  /** Answers 'upgrade' and 'connect', where the response is what the app writes to the socket. */
  upgrade(request: IncomingMessage, socket: Socket, handOver: HandOver): void {
    const label = takeLabel(request);
    if (label === undefined) return handOver();
    leaveToApp(socket);
    if (this.#mayEnter(socket)) return this.#handUpgrade(label, request, socket, handOver);
    this.#admitLater(label, socket, {
      enter: () => this.#handUpgrade(label, request, socket, handOver),
      refuse: () =>
        socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n'),
      // Node has let go of this socket, so nobody else would notice that the gateway closes it.
      giveBack: () =>
        socket
          .on('error', () => {})
          .once('end', () => socket.destroy())
          .resume(),
      follows: isAnother,
    });
  }

  /** Enters the gate at once, if nothing of its connection is unended; the caller then holds a place. */
  #mayEnter(socket: Socket): boolean {
    if (this.#inApp.size > 0 && this.#unendedOn(socket) !== undefined) return false;
    return this.#gate.tryEnter();
  }

  /**
   * Enters the gate later. A request came too early on a connection whose last response the app has not ended, or
   * behind one whose connection is closed already. It is given back to the gateway if that lasts. No answer is written
   * for it, as on that connection it would stand behind the unended one; the gateway closes it in time.
   */
  #admitLater(label: string, socket: Socket, { enter, refuse, giveBack, follows }: Newcomer): void {
    const before = this.#unendedOn(socket);
    // In the request's own async context, not in that of the request which left the gate before it.
    const resource = new AsyncResource('SluiceGate');
    const entrant: Entrant = {
      enter: () =>
        resource.runInAsyncScope(() => {
          if (!socket.destroyed) enter();
          // Its end is not reported where the gateway has taken it back: it may be on its way here again.
          else if (isHanded(label) && !this.#handed.take(label)) this.#leaveUnseen(socket);
          else this.#leaveUnserved(label);
        }),
      refuse,
    };
    const isBefore = (ticket: Ticket): boolean => ticket.socket === socket || follows(ticket);
    const returned = (unended: Ticket): void => {
      // The gateway may have taken it back already.
      if (isHanded(label) && !this.#handed.take(label)) return void socket.destroy();
      unended.isAwaited = true;
      this.#report.busy(label, unended.label);
      giveBack();
    };
    if (before !== undefined) {
      later(() => {
        if (this.#inApp.has(before) && isUnended(before)) returned(before);
        else if (this.#gate.tryEnter()) entrant.enter();
        else this.#wait(entrant, isBefore, returned);
      }, LATE_END_MS);
      return;
    }
    this.#wait(entrant, isBefore, returned);
    if (isHanded(label)) return this.#watchUnended(entrant, undefined, returned);
    if (this.#unended(follows) === undefined) return;
    later(() => {
      const unended = this.#unended(follows);
      if (unended !== undefined && this.#gate.withdraw(entrant)) returned(unended);
    }, LATE_END_MS);
  }

  #wait(entrant: Entrant, isBefore: (ticket: Ticket) => boolean, returned: (unended: Ticket) => void): void {
    this.#gate.wait(entrant);
    if (this.#hooks.hasAfter) this.#watchSettling(entrant, isBefore, returned);
  }

  /** Looks repeatedly, because the hooks before it may only begin, until it has entered or gone back. */
  #watchSettling(
    entrant: Entrant,
    isBefore: (ticket: Ticket) => boolean,
    returned: (settling: Ticket) => void,
  ): void {
    later(() => {
      if (!this.#gate.isWaiting(entrant)) return;
      const began_ms = now() - LATE_END_MS;
      for (const ticket of this.#inApp) {
        const { settlingSince_ms } = ticket;
        if (settlingSince_ms === undefined || settlingSince_ms > began_ms) continue;
        if (!isBefore(ticket)) continue;
        this.#gate.withdraw(entrant);
        return returned(ticket);
      }
      this.#watchSettling(entrant, isBefore, returned);
    }, LATE_END_MS);
  }

  #unendedOn(socket: Socket): Ticket | undefined {
    return this.#unended((ticket) => ticket.socket === socket);
  }

  /**
   * Watches a request that was handed over ahead of time and came before the one in front of it had even sent its head. It
   * goes back if that one is not ended for long after its last byte may have gone out.
   */
  #watchUnended(entrant: Entrant, before: Ticket | undefined, returned: (unended: Ticket) => void): void {
    later(() => {
      if (!this.#gate.isWaiting(entrant)) return;
      const unended = this.#unended(isAnother);
      if (unended === undefined || unended !== before) return this.#watchUnended(entrant, unended, returned);
      this.#gate.withdraw(entrant);
      returned(unended);
    }, LATE_END_MS);
  }

  #unended(matches: (ticket: Ticket) => boolean): Ticket | undefined {
    for (const ticket of this.#inApp) if (isUnended(ticket) && matches(ticket)) return ticket;
    return undefined;
  }

  /** Begins a request. If it was handed over ahead of time, it is the app's only if the gateway has not taken it back. */
  #begin(label: string, request: IncomingMessage, response: ServerResponse, handOver: HandOver): void {
    if (isHanded(label) && !this.#handed.take(label)) this.#leaveUnseen(request.socket);
    else this.#handRequest(label, request, response, handOver);
  }

  #handRequest(label: string, request: IncomingMessage, response: ServerResponse, handOver: HandOver): void {
    const ticket = this.#open(label, request, request.socket, response);
    leaveWithResponse(response, ticket);
    handedToApp(request, ticket.cpu.weight !== 0);
    const hand = waits(label) ? () => this.#handPoll(ticket, handOver) : handOver;
    const tail = this.#tails === undefined ? undefined : tailOf(label);
    if (tail === undefined) return this.#hand(ticket, hand);
    this.#tails?.begin(idOf(label) ?? 0, tail, (end) => {
      if (ticket.left) return end();
      this.#ends.set(ticket, end);
      // Outside of the promise, as with hooks.
      process.nextTick(() => this.#hand(ticket, () => this.#handPrepared(ticket, hand)));
    });
  }

  #hand(ticket: Ticket, handOver: HandOver): void {
    const { response } = ticket;
    const tags = response === undefined ? undefined : this.#pageTags;
    // Hooks may change it.
    const url = response?.req.url ?? '/';
    const make = tags === undefined ? handOver : () => tags.enter(response as ServerResponse, url, handOver);
    const hand = this.#hooks.hasBefore ? () => this.#prepare(ticket, make) : make;
    this.#cpu.run(ticket.cpu, hand);
  }

  /** A long poll that the app does not begin to answer at once only waits, so it leaves like a stream. */
  #handPoll(ticket: Ticket, handOver: HandOver): void {
    handOver();
    nextTurn(() => {
      if (ticket.response?.headersSent === false) this.leave(ticket, 'wait');
    });
  }

  #handUpgrade(label: string, request: IncomingMessage, socket: Socket, handOver: HandOver): void {
    const ticket = this.#open(label, request, socket, undefined);
    leaveAtFirstWrite(socket, ticket);
    const handOverAndLeave = (): void => {
      try {
        handOver();
      } finally {
        this.leave(ticket, 'upgrade');
      }
    };
    this.#hand(ticket, handOverAndLeave);
  }

  #open(
    label: string,
    request: IncomingMessage,
    socket: Socket,
    response: ServerResponse | undefined,
  ): Ticket {
    const entered_ms = now();
    setPeer(socket, label);
    const ticket: Ticket = {
      label,
      stay: this,
      request,
      socket,
      entered_ms,
      // Hooks are told of the CPU time.
      cpu: this.#cpu.enter(entered_ms, label, this.#hooks.hasAfter ? undefined : weightOf(label)),
      response,
      left: false,
      isAbandoned: false,
      settlingSince_ms: undefined,
      isAwaited: false,
    };
    this.#inApp.add(ticket);
    this.#report.holds(this.#inApp.size);
    this.#follower?.entered(idOf(label) ?? 0, ticket.cpu);
    this.moves += 1;
    if (this.#inApp.size > this.#held_max) this.#report.overlaps_total += 1;
    return ticket;
  }

  /** Runs the hooks that come before the app. What they wait for counts as the app's own time. */
  #prepare(ticket: Ticket, handOver: HandOver): void {
    try {
      const preparing = this.#hooks.before(hooked(ticket));
      if (preparing === undefined) return this.#handPrepared(ticket, handOver);
      preparing.then(
        // Outside of the promise, so that what the app throws is an uncaught exception as ever.
        () => process.nextTick(() => this.#handPrepared(ticket, handOver)),
        (error: unknown) => refuseUnprepared(ticket, error),
      );
    } catch (error) {
      refuseUnprepared(ticket, error);
    }
  }

  #handPrepared(ticket: Ticket, handOver: HandOver): void {
    // A hook has answered in the app's place, or the connection of an upgrade has closed.
    if (ticket.left || ticket.response?.writableEnded === true) return;
    if (ticket.socket.destroyed) this.leave(ticket, 'abandoned');
    else handOver();
  }

  /** The client has left. The request leaves when the app ends it or can do so no longer. */
  abandon(ticket: Ticket, response: ServerResponse): void {
    ticket.isAbandoned = true;
    this.#abandoned.watch(ticket, response, () => this.leave(ticket, 'end'));
  }

  /** Gives the place back after one more turn of the loop, in which the app's last callbacks run. */
  leave(ticket: Ticket, left: Leaving): void {
    if (ticket.left) return;
    ticket.left = true;
    if (!this.#hooks.hasAfter) this.#cpu.ends(ticket.cpu);
    nextTurn(leaveNow, ticket, left);
  }

  leaveNow(ticket: Ticket, left: Leaving): void {
    const settling = this.#hooks.hasAfter ? this.#settle(ticket, left) : undefined;
    if (settling === undefined) return this.#free(ticket, left);
    // The gateway counts a stream's slot as free at its headers and does not wait for word of it, so what it sent
    // meanwhile stays in the gate.
    if (left === 'end') ticket.settlingSince_ms = now();
    void settling.then(() => nextTurn(() => this.#free(ticket, left)));
  }

  #settle(ticket: Ticket, left: Leaving): Promise<void> | undefined {
    return this.#hooks.after({
      ...hooked(ticket),
      cpu_ms: this.#cpu.process_us(ticket.cpu) / 1000,
      duration_ms: now() - ticket.entered_ms,
      outcome: outcomeOf(ticket, left),
    });
  }

  #free(ticket: Ticket, left: Leaving): void {
    const isLate = this.#cpu.leave(ticket.cpu);
    const end = this.#ends.get(ticket);
    end?.();
    // The gateway holds a slot until it hears of these.
    const isUrgent = ticket.isAwaited || ticket.isAbandoned || left === 'upgrade' || left === 'wait';
    if (isLate && !isUrgent) nextTurn(() => this.#tell(ticket, left, end !== undefined));
    else this.#tell(ticket, left, end !== undefined);
    if (isUrgent) this.#report.flush();
    this.moves += 1;
    if (end !== undefined) this.#ends.delete(ticket);
    // On Node 20 the requests of a kept connection survive several collections, and so would what they refer to.
    if (left === 'end' && ticket.response !== undefined) forgetAnswer(ticket.response);
    this.#inApp.delete(ticket);
    this.#report.holds(this.#inApp.size);
    this.#follower?.left(idOf(ticket.label) ?? 0);
    this.#gate.leave();
  }

  /** The gateway has taken it back, and another worker may have it already: the app never hears of it. */
  #leaveUnseen(socket: Socket): void {
    socket.destroy();
    nextTurn(() => this.#gate.leave());
  }

  #tell(ticket: Ticket, left: Leaving, isProfiled: boolean): void {
    const { request, cpu: owner } = ticket;
    // The start of a profile is in the cost of its request.
    const cost = isProfiled ? UNKNOWN : this.#cpu.cost(owner);
    this.#report.done(ticket.label, cost, left, { request, owner });
  }

  /** Drops a request whose connection closed while it waited here, so the app never hears of it. */
  #leaveUnserved(label: string): void {
    this.#report.done(label, UNKNOWN, 'abandoned');
    // The gateway holds its slot until it hears of it.
    this.#report.flush();
    nextTurn(() => this.#gate.leave());
  }
}

function leaveNow(ticket: Ticket, left: Leaving): void {
  ticket.stay.leaveNow(ticket, left);
}

/** The app's state may be half prepared, so it does not get the request; what ends the response lets it go. */
function refuseUnprepared({ response, socket }: Ticket, error: unknown): void {
  warn('beforeRequest', error);
  if (response === undefined) {
    socket.end('HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n');
  } else if (response.headersSent) {
    if (!response.writableEnded) response.destroy();
  } else response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error\n');
}
