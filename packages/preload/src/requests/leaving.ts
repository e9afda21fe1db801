/**
 * End of a request in the app: its response's end, a stream's head, or the first byte of an upgrade. It must not know who else is there.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerOf } from './answer.js';
import type { Ticket } from './ticket.js';
import { nextTurn } from '../timers.js';

interface NodeResponse extends ServerResponse {
  /** The header block as Node is about to send it; a private field that every supported version has. */
  readonly _header?: unknown;
  /** Private too; they have been there as long. A length is a number. */
  readonly _headerSent?: unknown;
  readonly _contentLength?: unknown;
}

/** Lets the request leave when its response has ended. */
export function leaveWithResponse(response: ServerResponse, ticket: Ticket): void {
  const answer = answerOf(response);
  if (answer !== undefined) answer.ticket = ticket;
  response.on('close', onResponseClosed);
}

/** Follows the end of the response as well as the loss of its connection. */
function onResponseClosed(this: ServerResponse): void {
  const ticket = answerOf(this)?.ticket;
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
  const leaving = (method: (...parts: unknown[]) => unknown) =>
    function (this: ServerResponse, ...parts: unknown[]): unknown {
      ticket.stay.leave(ticket, 'end');
      return Reflect.apply(method, this, parts);
    };
  const { end, destroy } = response as unknown as Record<'end' | 'destroy', (...parts: unknown[]) => unknown>;
  Object.assign(response, { end: leaving(end), destroy: leaving(destroy) });
  ticket.stay.abandon(ticket, response);
}

/**
 * Upgrades leave at their headers, which are the first thing the app writes, or with the socket; at the latest when the app
 * has them in its hands. One that is never answered ends with its client, whose end nobody else may wait for.
 */
export function leaveAtFirstWrite(socket: Socket, ticket: Ticket): void {
  const destroy = (): void => void socket.destroy();
  const leave = (): void => {
    socket.off('close', leave).off('end', destroy);
    // What the app has put around them stays.
    if (socket.write === own.write) Reflect.deleteProperty(socket, 'write');
    if (socket.end === own.end) Reflect.deleteProperty(socket, 'end');
    ticket.stay.leave(ticket, 'upgrade');
  };
  const { write, end } = socket;
  const leaving = (then: (...parts: never[]) => unknown) =>
    function (this: Socket, ...parts: unknown[]): unknown {
      leave();
      return Reflect.apply(then, this, parts);
    };
  const own = { write: leaving(write), end: leaving(end) };
  Object.assign(socket, own);
  socket.on('close', leave).on('end', destroy);
}

/**
 * Event streams leave at their headers. Those go out at once, although Node would send them with the first event: until
 * then the gateway could not know of the stream, and would keep the slot. Patched once, in the process that serves.
 */
export function watchEventStreams(prototype: ServerResponse): void {
  const writeHead = prototype.writeHead as (this: ServerResponse, ...parts: unknown[]) => ServerResponse;
  Object.assign(prototype, {
    writeHead(this: NodeResponse, ...parts: unknown[]): ServerResponse {
      const result = Reflect.apply(writeHead, this, parts);
      const ticket = answerOf(this)?.ticket;
      if (ticket !== undefined && !ticket.left && isEventStream(this)) {
        nextTurn(sendHead, this);
        ticket.stay.leave(ticket, 'stream');
      }
      return result;
    },
  });
}

/** Most apps have sent it with the first event by now. */
function sendHead(response: NodeResponse): void {
  if (response._headerSent === false && !response.destroyed) response.flushHeaders();
}

/** Called once the header block is there. A response with a length is no stream. */
function isEventStream(response: NodeResponse): boolean {
  if (typeof response._contentLength === 'number') return false;
  const block = response._header;
  if (typeof block === 'string') {
    // Most blocks have no such word, and that is seen sooner than that no line begins so.
    return /event-stream/i.test(block) && /^content-type:[ \t]*text\/event-stream/im.test(block);
  }
  return /^text\/event-stream/i.test(String(response.getHeader('content-type')));
}
