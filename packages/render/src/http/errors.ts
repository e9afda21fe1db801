/** Requests that are answered with an error, because of what the client sent or a source did. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { messageOf, toError } from '../thrown.js';

/**
 * Errors of this package's handlers, by code: the status, and what the caller does about it. A code is never used for something else. The
 * page `docs/reference/render-errors.md` is made of this table.
 */
export const CATALOGUE = {
  'SLU-RENDER-NOT-FOUND': [404, 'No handler has this address: compare it with the paths of the handlers.'],
  'SLU-RENDER-STYLES-UNKNOWN': [404, 'No page has named these styles: load the page anew.'],
  'SLU-RENDER-BOX-UNKNOWN': [
    404,
    'The page has no data for this box: ask with the `id` that the page gave the box.',
  ],
  'SLU-RENDER-METHOD': [405, 'The address is asked by another method: see the header `Allow`.'],
  'SLU-RENDER-BODY-UNREADABLE': [
    400,
    'The body broke off, or is not what its `Content-Encoding` says: send it again, whole.',
  ],
  'SLU-RENDER-BODY-NOT-JSON': [400, 'The body is no JSON: the message tells the place.'],
  'SLU-RENDER-BODY-REFUSED': [403, "The app's `verify` refused the body: see the message."],
  'SLU-RENDER-BODY-TOO-LARGE': [
    413,
    'The body has more bytes than the handler takes: send less, or raise `bytesMax`.',
  ],
  'SLU-RENDER-BODY-ENCODING': [415, 'The content encoding is not taken: send gzip, deflate, br or none.'],
  'SLU-RENDER-BODY-CHARSET': [415, 'JSON is UTF-8: send it so.'],
  'SLU-RENDER-BODY-TYPE': [415, 'Trees are sent as `Content-Type: application/json`.'],
  'SLU-RENDER-BATCH-INVALID': [400, 'A batch is a JSON object of jobs by their tokens.'],
  'SLU-RENDER-BATCH-TOO-LARGE': [
    413,
    'The batch has more jobs than the handler takes: send several, or raise `jobsMax`.',
  ],
  'SLU-RENDER-TREE-INVALID': [
    400,
    'The tree or a field beside it is not valid: the message tells the place.',
  ],
  'SLU-RENDER-SOURCE-FAILED': [502, "Data of the page did not come: the worker's log has the reason."],
  'SLU-RENDER-SOURCE-LATE': [504, 'Data of the page is late: see the time limits of its sources.'],
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
    throw new RangeError('its status is no number from 200 to 599');
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
