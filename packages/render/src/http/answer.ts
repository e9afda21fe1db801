/**
 * Answers, whatever server they go by: handlers make them, and `node.ts` and `fetch.ts` send them. It must not know what handlers do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Abort } from '../abort.js';
import { HttpError, readError, type ErrorCode } from './errors.js';

/** Stream that may turn out to be there as a whole before any of it has to go. */
export interface Streamed extends Readable {
  /** Undefined where it is to be read. To be called before anybody reads. */
  whole?: () => Promise<Uint8Array | undefined>;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; checked. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | Streamed;
  /** Called when all is sent, or the client has left. */
  readonly sent?: () => Promise<void>;
}

/** Circumstances of a request beside itself. */
export interface Exchange {
  /** Aborted when the client leaves before its answer was sent. One is made for each call. */
  readonly leave: () => Abort;
  /** Undefined for requests of Fetch. */
  readonly response: ServerResponse | undefined;
}

/** Makes the answer to a request. Resolves to undefined, with the request untouched, for requests that are not its own. */
export type Answering = (request: IncomingMessage, exchange: Exchange) => Promise<Answer | undefined>;

/** Statuses whose answers have no body. */
export const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
    },
    body: text,
  };
}

/** The next request may be answered. */
const NOT_KEPT = { 'cache-control': 'no-store' };

/** The client gets the message of an `HttpError`, and of no other. */
export function errorAnswer(thrown: unknown): Answer {
  const error = readError(thrown);
  if (!(error instanceof HttpError)) {
    const code: ErrorCode = 'SLU-RENDER-INTERNAL';
    return jsonAnswer(500, { error: 'Internal error', code }, NOT_KEPT);
  }
  const { statusCode, message, code, headers } = error;
  return jsonAnswer(statusCode, { error: message, code }, { ...NOT_KEPT, ...headers });
}

export function notFound(): Answer {
  const code: ErrorCode = 'SLU-RENDER-NOT-FOUND';
  return jsonAnswer(404, { error: 'Not found', code }, NOT_KEPT);
}

/** The parameters of a request's query. Clients send URLs that are none, which this reads too. */
export function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start));
}

/** The path of a request, without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
