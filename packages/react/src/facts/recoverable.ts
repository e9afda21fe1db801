/** `browser()` of react-dom 19.3: a part of the page that asks to be rendered by the client only. */
import { RECOVERABLE } from './react.js';

interface BrowserOnly {
  readonly $$typeof: symbol;
  readonly _reason: unknown;
}

export function isBrowserOnly(value: unknown): value is BrowserOnly {
  return typeof value === 'object' && value !== null && (value as BrowserOnly).$$typeof === RECOVERABLE;
}

export function createRecoverableError({ _reason: reason }: BrowserOnly): Error {
  let cause = reason;
  if (typeof reason === 'function') {
    try {
      cause = (reason as () => unknown)();
    } catch {
      cause = 'The reason for browser-only rendering could not be determined because its initializer threw.';
    }
  }
  const message = 'Browser-only rendering was requested by `browser()`.';
  const error = reason === undefined ? new Error(message) : new Error(message, { cause });
  Object.defineProperty(error, RECOVERABLE, { value: true });
  return error;
}

export function isRecoverableError(error: unknown): error is Error {
  return (
    typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[RECOVERABLE] === true
  );
}

/** Outside of every Suspense boundary nothing is left that the client could take over. Other errors are fatal as they are. */
export function asFatal(recoverable: unknown): unknown {
  if (!isRecoverableError(recoverable)) return recoverable;
  const message =
    "The server render could not complete because client rendering was requested outside a Suspense boundary. See this error's cause for additional details.";
  const fatal = Object.hasOwn(recoverable, 'cause')
    ? new Error(message, { cause: recoverable.cause })
    : new Error(message);
  const { stack } = recoverable;
  if (stack === undefined) delete fatal.stack;
  else {
    const frames = stack.indexOf('\n');
    fatal.stack = `${fatal.name}: ${fatal.message}${frames < 0 ? '' : stack.slice(frames)}`;
  }
  return fatal;
}
