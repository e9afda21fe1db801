/**
 * A request's stay with the app: label off, through the gate, handed over, measured, and let go when the response
 * has ended and the loop has turned once more. A client that went away lets nothing go: only the app does, by ending
 * its response or destroying it. If it never does, the gateway replaces the worker.
 */
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Gate } from './gate.js';
import type { Leaving } from './messages.js';
import { setPeer, takeLabel } from './peer.js';
import { cpuUs, type Report } from './report.js';

const WAITING_MAX = 1000;
const UNREAD_MS = 50;

const ticketKey = Symbol('sluice.ticket');

/** One request in the app's hands. */
interface Ticket {
  readonly label: string;
  readonly stay: Requests;
  readonly socket: Socket;
  readonly cpu_us_before: number;
  left: boolean;
}

interface TicketedResponse extends ServerResponse {
  [ticketKey]?: Ticket;
  /** The header block as Node is about to send it; a private field that every supported version has. */
  readonly _header?: unknown;
}

export type HandOver = () => void;

export class Requests {
  readonly #gate: Gate;
  readonly #report: Report;
  readonly #held_max: number;
  #inApp = 0;

  constructor(held_max: number, report: Report) {
    this.#held_max = held_max;
    this.#gate = new Gate(held_max, WAITING_MAX);
    this.#report = report;
  }

  /** For 'request', 'checkContinue' and 'checkExpectation'. */
  respond(request: IncomingMessage, response: ServerResponse, handOver: HandOver): void {
    const label = takeLabel(request);
    // Not from the gateway, or emitted a second time by the app itself.
    if (label === undefined) return handOver();
    if (this.#gate.tryEnter()) return this.#handRequest(label, request, response, handOver);

    const later = new AsyncResource('SluiceGate');
    this.#gate.wait({
      // In the request's own async context, not in that of the request which left the gate before it.
      enter: () =>
        later.runInAsyncScope(() => {
          if (request.socket.destroyed) this.#leaveUnserved(label);
          else this.#handRequest(label, request, response, handOver);
        }),
      refuse: () => response.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end(),
    });
  }

  /** A request ended in the parser. Told a little later, when the gateway has seen the connection close. */
  unread(): void {
    setTimeout(() => {
      if (this.#inApp === 0) this.#report.idle();
    }, UNREAD_MS).unref();
  }

  /** For 'upgrade' and 'connect', where the response is whatever the app writes to the socket. */
  upgrade(request: IncomingMessage, socket: Socket, handOver: HandOver): void {
    const label = takeLabel(request);
    if (label === undefined) return handOver();
    if (this.#gate.tryEnter()) return this.#handUpgrade(label, socket, handOver);

    const later = new AsyncResource('SluiceGate');
    this.#gate.wait({
      enter: () =>
        later.runInAsyncScope(() => {
          if (socket.destroyed) this.#leaveUnserved(label);
          else this.#handUpgrade(label, socket, handOver);
        }),
      refuse: () =>
        socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n'),
    });
  }

  #handRequest(label: string, request: IncomingMessage, response: ServerResponse, handOver: HandOver): void {
    const ticket = this.#open(label, request.socket);
    (response as TicketedResponse)[ticketKey] = ticket;
    response.on('close', onResponseClosed);
    handOver();
  }

  #handUpgrade(label: string, socket: Socket, handOver: HandOver): void {
    const ticket = this.#open(label, socket);
    leaveAtFirstWrite(socket, ticket);
    handOver();
  }

  #open(label: string, socket: Socket): Ticket {
    setPeer(socket, label);
    this.#report.loop.entered(performance.now());
    this.#inApp += 1;
    if (this.#held_max > 0 && this.#inApp > this.#held_max) this.#report.overlaps_total += 1;
    return { label, stay: this, socket, cpu_us_before: cpuUs(), left: false };
  }

  /** Gives the place back after one more turn of the loop, in which the app's last callbacks run. */
  leave(ticket: Ticket, left: Leaving): void {
    if (ticket.left) return;
    ticket.left = true;
    nextTurn(leaveNow, ticket, left);
  }

  leaveNow(ticket: Ticket, left: Leaving): void {
    const block_ms = this.#report.loop.blockSinceEntry_ms(performance.now());
    this.#report.done(ticket.label, cpuUs() - ticket.cpu_us_before, block_ms, left);
    this.#inApp -= 1;
    this.#gate.leave();
  }

  /** Its connection closed while it waited here, so the app never hears of it. */
  #leaveUnserved(label: string): void {
    this.#report.done(label, 0, 0, 'abandoned');
    nextTurn(() => this.#gate.leave());
  }
}

// Taken before the app can replace it, by fake timers for example.
const nextTurn = setImmediate;

function leaveNow(ticket: Ticket, left: Leaving): void {
  ticket.stay.leaveNow(ticket, left);
}

/** Follows the end of the response as well as the loss of its connection. */
function onResponseClosed(this: ServerResponse): void {
  const ticket = (this as TicketedResponse)[ticketKey];
  if (ticket === undefined) return;
  // Timeouts that the app set for this response must not end the gateway's connection while it is idle.
  if (ticket.socket.timeout) ticket.socket.setTimeout(0);
  if (this.writableEnded || !wasClosedByPeer(ticket.socket)) ticket.stay.leave(ticket, 'end');
  else leaveWhenAppEnds(this, ticket);
}

/** Otherwise the app itself destroyed the connection, which is one way to end a response. */
function wasClosedByPeer(socket: Socket): boolean {
  const error: (Error & { code?: string }) | null = socket.errored;
  return socket.readableEnded || error?.code === 'ECONNRESET' || error?.code === 'EPIPE';
}

function leaveWhenAppEnds(response: ServerResponse, ticket: Ticket): void {
  if (ticket.left) return;
  const end = response.end.bind(response) as (...parts: unknown[]) => ServerResponse;
  const ended = (...parts: unknown[]): ServerResponse => {
    ticket.stay.leave(ticket, 'end');
    return end(...parts);
  };
  Object.assign(response, { end: ended });
}

/** Upgrades leave at their headers, which are the first thing the app writes, or with the socket. */
function leaveAtFirstWrite(socket: Socket, ticket: Ticket): void {
  const leave = (): void => {
    socket.off('close', leave);
    Reflect.deleteProperty(socket, 'write');
    Reflect.deleteProperty(socket, 'end');
    ticket.stay.leave(ticket, 'upgrade');
  };
  const { write, end } = socket;
  const leaving = (then: (...parts: never[]) => unknown) =>
    function (this: Socket, ...parts: unknown[]): unknown {
      leave();
      return Reflect.apply(then, this, parts);
    };
  Object.assign(socket, { write: leaving(write), end: leaving(end) });
  socket.on('close', leave);
}

/** Event streams leave at their headers. Patched once, in the process that serves. */
export function watchEventStreams(prototype: ServerResponse): void {
  const writeHead = prototype.writeHead as (this: ServerResponse, ...parts: unknown[]) => ServerResponse;
  Object.assign(prototype, {
    writeHead(this: TicketedResponse, ...parts: unknown[]): ServerResponse {
      const result = Reflect.apply(writeHead, this, parts);
      const ticket = this[ticketKey];
      if (ticket !== undefined && isEventStream(this)) ticket.stay.leave(ticket, 'stream');
      return result;
    },
  });
}

function isEventStream(response: TicketedResponse): boolean {
  const block = response._header;
  if (typeof block === 'string') {
    return /^content-type:[ \t]*text\/event-stream/im.test(block);
  }
  return /^text\/event-stream/i.test(String(response.getHeader('content-type')));
}
