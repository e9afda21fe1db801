/** Requests and answers, whatever server they go by. It must not know graphs. */
import type { IncomingMessage } from 'node:http';
import type { Requested } from './request.js';

/** Request as the app's functions see it. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The server's own request. */
  readonly raw: Request | IncomingMessage;
}

/** Request whose body has not been read. */
export interface Incoming extends WireRequest {
  /** Body as bytes, or as the value that a parser of the app's has left. Rejects with a `RouteError`. */
  body(bytesMax: number): Promise<Uint8Array | Requested>;
  /** Aborts when the client leaves before its answer was sent. Made when it is first read. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or lines that come one after the other. */
  readonly body: string | AsyncIterable<string>;
  /** Aborts when the client takes no more of the lines: its connection is to be closed. */
  readonly stalled?: AbortSignal;
}

/** Makes the answer to a request; undefined for requests that are not its own. */
export type Answering = (request: Incoming) => Promise<Answer | undefined>;
