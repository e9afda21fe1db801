/** One request in the app's hands, and what can be told from it alone. It must not know the gate. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HookedRequest, Outcome } from '../api.js';
import type { Leaving } from '../control/messages.js';
import type { Stay } from '../cpu/own-cpu.js';

/** Holder of the place in which the request stays. */
interface Host {
  /** Gives the place back after one more turn of the loop. */
  leave(ticket: Ticket, left: Leaving): void;
  leaveNow(ticket: Ticket, left: Leaving): void;
  /** The client has left before the app ended the response. */
  abandon(ticket: Ticket, response: ServerResponse): void;
}

/** One request in the app's hands. */
export interface Ticket {
  readonly label: string;
  readonly stay: Host;
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly entered_ms: number;
  readonly cpu: Stay;
  /** None for an upgrade, whose response is the app's own affair. */
  readonly response: ServerResponse | undefined;
  left: boolean;
  /** The client went away before the app had ended the response. */
  isAbandoned: boolean;
  /** Time at which its hooks began to run, after its response had ended. */
  settlingSince_ms: number | undefined;
  /** The gateway was told that this one is not ended yet, and waits to hear that it is. */
  isAwaited: boolean;
}

/** Whether its last announced byte may be out without its having been ended. Chunks are ended by `end()` alone. */
export function isUnended({ left, response }: Ticket): boolean {
  if (left || response === undefined || !response.headersSent || response.writableEnded) return false;
  return !response.chunkedEncoding || response.req.method === 'HEAD';
}

/** An upgrade comes on a connection of its own, while another request keeps that of its slot. */
export const isAnother = (): boolean => true;

/** Whether its connection cannot bring another request. */
export function isCutOff({ socket }: Ticket): boolean {
  return socket.destroyed || socket.readableEnded;
}

export function hooked({ request, response }: Ticket): HookedRequest {
  const id = request.headers['x-request-id'];
  return { request, response, id: typeof id === 'string' ? id : '' };
}

export function outcomeOf({ response, isAbandoned }: Ticket, left: Leaving): Outcome {
  if (left === 'stream' || left === 'upgrade') return left;
  if (left === 'wait') return 'stream';
  return response?.writableFinished === true && !isAbandoned ? 'answered' : 'aborted';
}
