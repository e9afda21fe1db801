/**
 * The options of a render, each read by its name from what the caller gave, as react-dom reads them: also what the caller's object inherits.
 * The result inherits nothing, so that what pollutes `Object.prototype` is no option of a caller who gave none.
 */
import { logError } from '../facts/log-error.js';
import type { Props } from '../facts/react.js';
import type { ErrorInfo, RenderOptions, ToldError } from '../state/render.js';

export interface StreamOptions extends RenderOptions {
  namespaceURI?: string | undefined;
}

export interface ReadableOptions extends Omit<StreamOptions, 'onHeaders'> {
  signal?: AbortSignal | undefined;
  onHeaders?: ((headers: Headers) => void) | undefined;
}

const NAMES = [
  'identifierPrefix',
  'bootstrapScriptContent',
  'bootstrapScripts',
  'bootstrapModules',
  'nonce',
  'importMap',
  'onHeaders',
  'maxHeadersLength',
  'namespaceURI',
  'progressiveChunkSize',
  'onError',
  'onBrowserBailout',
  'onAllReady',
  'onShellReady',
  'onShellError',
  'formState',
] as const satisfies readonly (keyof StreamOptions)[];

const WEB_NAMES = ['signal'] as const satisfies readonly (keyof ReadableOptions)[];
/** Callbacks that the functions for web streams and for prerendering do not have. */
const NODE_ONLY = new Set(['onAllReady', 'onShellReady', 'onShellError']);

const PRERENDER_NAMES = NAMES.filter(
  (name) => name !== 'nonce' && name !== 'formState' && !NODE_ONLY.has(name),
);
const READABLE_NAMES = [...NAMES.filter((name) => !NODE_ONLY.has(name)), ...WEB_NAMES];

export function pipeableOptions(given: object | null | undefined): StreamOptions {
  return read(given, NAMES);
}

export function readableOptions(given: object | null | undefined): ReadableOptions {
  return read(given, READABLE_NAMES);
}

/** `onHeaders` takes one thing or another, as the function that is called has it. */
export function prerenderOptions(given: object | null | undefined): ReadableOptions & StreamOptions {
  return read(given, PRERENDER_NAMES);
}

/** Own properties of `fields` alone: nothing else is read from the result. */
export function ownOptions<Options extends object>(fields: Options): Options {
  return Object.assign(Object.create(null) as Options, fields);
}

/**
 * Options for react-dom, which renders the page again: the app hears neither of an error twice nor, when `headersAreSent`, of
 * headers.
 */
export function withoutTold<Options extends object>(
  given: Options | undefined,
  toldErrors: readonly ToldError[],
  headersAreSent = false,
): Options | undefined {
  if (toldErrors.length === 0 && !headersAreSent) return given;
  const options: ReadableOptions = read(given, [...NAMES, ...WEB_NAMES]);
  if (headersAreSent) options.onHeaders = undefined;
  if (toldErrors.length === 0) return options as Options;
  const left = [...toldErrors];
  const once =
    (tell: (error: unknown, info: ErrorInfo) => unknown) =>
    (error: unknown, info: ErrorInfo): unknown => {
      const at = left.findIndex((told) => isAlike(told.error, error));
      return at < 0 ? tell(error, info) : left.splice(at, 1)[0]?.digest;
    };
  options.onError = once(options.onError ?? logError);
  options.onBrowserBailout = once(options.onBrowserBailout ?? (() => undefined));
  return options as Options;
}

/** A component that fails makes another error each time. */
function isAlike(before: unknown, after: unknown): boolean {
  if (Object.is(before, after)) return true;
  return before instanceof Error && after instanceof Error && before.message === after.message;
}

function read(given: object | null | undefined, names: readonly string[]): Props {
  const options = Object.create(null) as Props;
  if (!given) return options;
  for (const name of names) options[name] = (given as Props)[name];
  return options;
}
