/**
 * The preload's notes on one response. They are one object in one property: each property more has a response of a framework copy all
 * of its own. It must not know what is done with them.
 */
import type { ServerResponse } from 'node:http';
import type { Ticket } from './ticket.js';

const answerKey = Symbol('sluice.answer');

/** Notes on one response. */
export interface Answer {
  /** Token that the gateway gave the request: 16 hexadecimal digits. Undefined where it gave none. */
  readonly token: string | undefined;
  /** Bytes of the body that went out or were cut. */
  sent_bytes: number;
  /** Undefined until the app has the request. */
  ticket: Ticket | undefined;
}

interface NotedResponse extends ServerResponse {
  [answerKey]?: Answer | undefined;
}

export function beginAnswer(response: ServerResponse, token: string | undefined): void {
  (response as NotedResponse)[answerKey] = { token, sent_bytes: 0, ticket: undefined };
}

/** Undefined for a response to a request that is not from the gateway, and for one that is closed. */
export function answerOf(response: ServerResponse): Answer | undefined {
  return (response as NotedResponse)[answerKey];
}

/** Forgets a closed response, so that an app that keeps it keeps no memory of the preload. */
export function forgetAnswer(response: ServerResponse): void {
  (response as NotedResponse)[answerKey] = undefined;
}
