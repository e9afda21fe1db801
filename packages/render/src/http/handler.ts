/**
 * Handlers of requests, and the two ways to put them into an app: a server of their own, or middleware of Express and its like.
 * It must not know what handlers do.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { logText, toError } from '../thrown.js';
import { HttpError } from './errors.js';

/** Answers the requests that are its own. Resolves to false, and leaves the response alone, for all others. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export interface HandlerOptions {
  /** Called with what a handler threw, which the client does not see. Default: `console.error` with method and path. */
  readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

/** A server that asks each handler in turn, and answers 404 where none wants a request. It listens where the caller says. */
export function createServer(handlers: Handler | readonly Handler[], options: HandlerOptions = {}): Server {
  const all = [handlers].flat();
  return createHttpServer((request, response) => {
    void answerWith(all, request, response, options).then((isAnswered) => {
      if (!isAnswered) sendJson(response, 404, { error: 'Not found' });
    });
  });
}

/** Makes a handler for Express, Connect and others: requests that no handler wants continue to `next`. */
export function middleware(
  handlers: Handler | readonly Handler[],
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  const all = [handlers].flat();
  return (request, response, next) => {
    firstOf(all, request, response).then((isAnswered) => {
      if (!isAnswered) next();
    }, next);
  };
}

export function sendJson(response: ServerResponse, statusCode: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response
    .writeHead(statusCode, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
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

async function answerWith(
  handlers: readonly Handler[],
  request: IncomingMessage,
  response: ServerResponse,
  { onError = logError }: HandlerOptions,
): Promise<boolean> {
  try {
    return await firstOf(handlers, request, response);
  } catch (thrown) {
    const error = toError(thrown);
    const statusCode = error instanceof HttpError ? error.statusCode : 500;
    if (statusCode >= 500) tell(onError, error, request);
    if (response.headersSent) response.destroy();
    else
      sendJson(response, statusCode, {
        error: error instanceof HttpError ? error.message : 'Internal error',
      });
    return true;
  }
}

/** The request itself stays out of logs: its headers have cookies and credentials, and its query may have them. */
function logError(error: unknown, request: IncomingMessage): void {
  console.error(`${request.method ?? ''} ${pathOf(request)}: ${logText(error)}`);
}

/** An `onError` that throws ends neither the answer nor the process. */
function tell(
  onError: NonNullable<HandlerOptions['onError']>,
  error: unknown,
  request: IncomingMessage,
): void {
  try {
    onError(error, request);
  } catch (thrown) {
    logError(thrown, request);
  }
}

async function firstOf(
  handlers: readonly Handler[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  for (const handle of handlers) {
    if (await handle(request, response)) return true;
  }
  return false;
}
