/** Requests that are answered with an error, because of what the client sent or a source did. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { messageOf, toError } from '../thrown.js';

/**
 * Errors of this package's handlers, by code: the status, and what the caller does about it. A code is never used for something else. The
 * page `docs/reference/render-errors.md` is made of this table.
 */
export const CATALOGUE = {
  'SLU-RENDER-NOT-FOUND': [404, 'No handler has this path: compare it with the paths of the handlers.'],
  'SLU-RENDER-STYLES-UNKNOWN': [404, 'No page refers to these styles: reload the page.'],
  'SLU-RENDER-BOX-UNKNOWN': [404, 'The page has no data for this box: use the `id` of the box in the page.'],
  'SLU-RENDER-METHOD': [405, 'The handler does not support this method: see the `Allow` header.'],
  'SLU-RENDER-BODY-UNREADABLE': [
    400,
    'The body is incomplete, or does not match its `Content-Encoding`: send it again.',
  ],
  'SLU-RENDER-BODY-NOT-JSON': [400, 'The body is not valid JSON: the message has the position.'],
  'SLU-RENDER-BODY-REFUSED': [403, "The app's `verify` rejected the body: see the message."],
  'SLU-RENDER-BODY-TOO-LARGE': [
    413,
    'The body is larger than the handler accepts: send less, or raise `bytesMax`.',
  ],
  'SLU-RENDER-BODY-ENCODING': [415, 'The content encoding is not supported: send gzip, deflate, br or none.'],
  'SLU-RENDER-BODY-CHARSET': [415, 'The charset of JSON must be UTF-8.'],
  'SLU-RENDER-BODY-TYPE': [415, 'Trees must have `Content-Type: application/json`.'],
  'SLU-RENDER-BATCH-INVALID': [
    400,
    'A batch must be a JSON object whose keys are tokens and whose values are jobs.',
  ],
  'SLU-RENDER-BATCH-TOO-LARGE': [
    413,
    'The batch has more jobs than the handler accepts: split it, or raise `jobsMax`.',
  ],
  'SLU-RENDER-TREE-INVALID': [400, 'The tree or another field is not valid: the message has the position.'],
  'SLU-RENDER-SOURCE-FAILED': [502, "A data source of the page failed: the worker's log has the reason."],
  'SLU-RENDER-SOURCE-LATE': [
    504,
    'A data source of the page exceeded its time limit: see the limits of its sources.',
  ],
  'SLU-RENDER-INTERNAL': [
    500,
    'A handler threw: `onError` got the error, by default as a line on standard error.',
  ],
} as const satisfies Readonly<Record<string, readonly [statusCode: number, text: string]>>;

export type ErrorCode = keyof typeof CATALOGUE;

export interface HttpErrorOptions extends ErrorOptions {
  /** Tells clients which error it is, beside the message. */
  readonly code?: string;
  /** Headers of the answer, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Error whose message may be shown to the client. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly statusCode: number;
  readonly code: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    statusCode: number,
    message: string,
    { code, headers = {}, ...options }: HttpErrorOptions = {},
  ) {
    super(message, options);
    this.statusCode = statusCode;
    this.code = code;
    this.headers = headers;
  }
}

/**
 * Returns any thrown value as an error, as `toError` does. An `HttpError` whose status or headers cannot be sent is the server's mistake: another
 * error says so. Never throws.
 */
export function readError(thrown: unknown): Error {
  const error = toError(thrown);
  if (!(error instanceof HttpError)) return error;
  try {
    checkSendable(error);
    return error;
  } catch (cause) {
    return new Error(`An HttpError cannot be sent: ${messageOf(cause)}`, { cause: error });
  }
}

function checkSendable({ statusCode, headers }: HttpError): void {
  if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    throw new RangeError('its status is not a number from 200 to 599');
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    if (typeof value !== 'string') throw new TypeError(`its header ${name} is no text`);
    validateHeaderValue(name, value);
  }
}

/** Makes an error of the catalogue. */
export function httpError(
  code: ErrorCode,
  message: string,
  options: Omit<HttpErrorOptions, 'code'> = {},
): HttpError {
  return new HttpError(CATALOGUE[code][0], message, { ...options, code });
}
