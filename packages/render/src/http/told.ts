/** Errors of handlers that clients do not see: the app is told, or the log. */
import { AbandonedError } from '../abort.js';
import { callApp, logText } from '../thrown.js';
import { HttpError, readError } from './errors.js';

/** Request as the log names it. */
interface Named {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

export interface ErrorOptions<Request extends Named> {
  /** Called with what a handler threw, which the client does not see. Default: `console.error` with method and path. */
  readonly onError?: (error: unknown, request: Request) => void;
}

/** Tells errors that are the server's: a client who leaves is none. An `onError` that throws or rejects ends neither the answer nor the process. */
export function tellError<Request extends Named>(
  thrown: unknown,
  request: Request,
  { onError = logError }: ErrorOptions<Request>,
): void {
  // Anything may be thrown, a proxy that throws when it is looked at as well.
  const error = readError(thrown);
  if (error instanceof HttpError && error.statusCode < 500) return;
  if (error instanceof AbandonedError) return;
  callApp(
    () => onError(error, request),
    (failure) => logError(failure, request),
  );
}

/** The request itself stays out of logs: its headers have cookies and credentials, and its query may have them. */
function logError(error: unknown, { method = '', url = '/' }: Named): void {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/\?.*$/s, '');
  console.error(`${method} ${path}: ${logText(error)}`);
}
