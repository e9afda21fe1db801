/** Errors of requests to a router, and the values that paths get instead of data. It must not know how requests are run. */
import type { GraphError } from '../types.js';

/**
 * Errors by code: the status over HTTP, and the next step for the caller. A code is never used for something else.
 */
export const CATALOGUE = {
  'SLU-GRAPH-INVALID': [400, 'A path, a range or the graph is malformed: the message has the position.'],
  'SLU-GRAPH-PATHS': [413, 'The request has more paths than the router accepts: request fewer at once.'],
  'SLU-GRAPH-DEPTH': [400, 'A path has more steps than the router accepts.'],
  'SLU-GRAPH-CALLS': [
    413,
    'The paths need more route calls than one request may make: request them as sets of keys.',
  ],
  'SLU-GRAPH-REFERENCES': [508, 'References form a cycle, or exceed the limit.'],
  'SLU-GRAPH-TIME': [504, 'The routes took longer than the time limit of the request.'],
  'SLU-GRAPH-DENIED': [403, 'The `authorize` function of the route denied the path.'],
  'SLU-GRAPH-REFUSED': [400, 'The schema of the graph rejected a value or the arguments: see the message.'],
  'SLU-GRAPH-HANDLER': [500, 'The handler of the route threw: `onError` got the error.'],
  'SLU-GRAPH-VALUE': [500, 'The handler returned a value that is not JSON Graph: `onError` got the reason.'],
  'SLU-GRAPH-ASTRAY': [500, 'The handler returned a path that was not requested: `onError` got the path.'],
  'SLU-GRAPH-CALL-UNKNOWN': [404, 'No route has this function: compare the path with the routes.'],
  'SLU-GRAPH-SOURCE': [502, 'The data source of unhandled paths failed: `onError` got the error.'],
  'SLU-GRAPH-ORIGIN': [403, 'Pages of other origins may not change data: see `isCrossSite`.'],
  'SLU-GRAPH-METHOD': [405, 'This URL does not support the method: see the `Allow` header.'],
  'SLU-GRAPH-BODY': [
    400,
    'The body is incomplete, or does not match its type or encoding: the message has the reason.',
  ],
  'SLU-GRAPH-BODY-TOO-LARGE': [413, 'The body is larger than the handler accepts.'],
  'SLU-GRAPH-BODY-TYPE': [415, 'Send a form (`application/x-www-form-urlencoded`) or JSON, in UTF-8.'],
  'SLU-GRAPH-INTERNAL': [500, 'The router failed to answer: `onError` got the error.'],
} as const satisfies Readonly<Record<string, readonly [statusCode: number, text: string]>>;

export type ErrorCode = keyof typeof CATALOGUE;

export interface RouteErrorOptions extends ErrorOptions {
  /** Status over HTTP where the error ends the whole request, 400 to 599. Default: 500. */
  readonly statusCode?: number;
  readonly code?: string;
}

/**
 * Error whose message clients may see. A handler throws it to give its paths that error; all other errors reach clients as
 * `SLU-GRAPH-HANDLER` without their message.
 */
export class RouteError extends Error {
  override readonly name = 'RouteError';
  readonly statusCode: number;
  readonly code: string | undefined;

  constructor(message: string, { statusCode = 500, code, ...options }: RouteErrorOptions = {}) {
    super(message, options);
    this.statusCode = statusCode;
    this.code = code;
  }
}

/** Value of an `$error` that this router makes. */
export interface ErrorValue {
  readonly message: string;
  readonly code?: string;
  readonly status: number;
}

export type RouteErrorLeaf = GraphError<ErrorValue>;

/** Makes an error of the catalogue. */
export function routeError(code: ErrorCode, message: string, options: ErrorOptions = {}): RouteError {
  return new RouteError(message, { ...options, code, statusCode: CATALOGUE[code][0] });
}

/** Makes the value for paths that got an error of the catalogue. */
export function errorLeaf(code: ErrorCode, message: string): RouteErrorLeaf {
  return Object.freeze({
    $type: 'error' as const,
    value: Object.freeze({ message, code, status: CATALOGUE[code][0] }),
  });
}

/** Makes the value for paths whose handler threw. Only the message of a `RouteError` is told. */
export function thrownLeaf(thrown: unknown, code: ErrorCode = 'SLU-GRAPH-HANDLER'): RouteErrorLeaf {
  if (!(thrown instanceof RouteError)) return errorLeaf(code, 'Internal error');
  const { message, code: given, statusCode } = thrown;
  const value: ErrorValue = { message, ...(given === undefined ? {} : { code: given }), status: statusCode };
  return { $type: 'error', value };
}
