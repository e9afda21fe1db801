/**
 * `@sluice/react/server`: what `react-dom/server` exports, with the same signatures and the same output. What cannot be rendered identically is
 * rendered by react-dom, which is decided before anything is sent.
 */
import type { ReactNode } from 'react';
import type {
  PipeableStream,
  ReactDOMServerReadableStream,
  RenderToPipeableStreamOptions,
  RenderToReadableStreamOptions,
  ServerOptions,
} from 'react-dom/server';
import type { PrerenderOptions, PrerenderResult, PrerenderToNodeStreamResult } from 'react-dom/static';
import { register } from './copies.js';
import {
  countFallback,
  countRender,
  reasonToDelegate,
  reasonToDelegateStreams,
  reasonToDelegateWebStreams,
} from './fallback.js';
import { learnClientScripts } from '../facts/client-scripts.js';
import { ReactDOMServer, version } from '../facts/react.js';
import { pipeableStream, readableStream, type Left } from './streams.js';
import {
  ownOptions,
  pipeableOptions,
  prerenderOptions,
  readableOptions,
  withoutTold,
  type ReadableOptions,
  type StreamOptions,
} from './options.js';
import { nodePrelude, prerenderWith, webPrelude } from './prerender.js';
import { functionOf, withStatic } from './static.js';
import { renderBuffer, renderString } from './strings.js';
import { Unsupported } from '../facts/unsupported.js';
import { profile } from '../facts/profile.js';

export { cacheStatistics, configureCache, purge, type CacheOptions } from '../cache/caches.js';
export type { CacheStatistics } from '../cache/component-cache.js';
export { onFallback, statistics, type Fallback, type FallbackListener, type Statistics } from './fallback.js';
export {
  resume,
  resumeAndPrerender,
  resumeAndPrerenderToNodeStream,
  resumeToPipeableStream,
} from './resume.js';
export { collectTags, type Tagged } from '../cache/tags.js';
export { version };

register();

export function renderToString(children: ReactNode, options?: ServerOptions): string {
  return stringOf(children, options, 'renderToString');
}

export function renderToStaticMarkup(children: ReactNode, options?: ServerOptions): string {
  return stringOf(children, options, 'renderToStaticMarkup');
}

/**
 * Returns the UTF-8 bytes of what `renderToString` returns, for a response that is sent as it is. It costs less than to encode that string:
 * pieces are encoded as they are written.
 */
export function renderToBuffer(children: ReactNode, options?: ServerOptions): Buffer {
  const prefix = options ? options.identifierPrefix : undefined;
  return ownOr(
    'renderToBuffer',
    () => renderBuffer(children, prefix),
    () => Buffer.from(ReactDOMServer.renderToString(children, options)),
  );
}

const MODES = { renderToString: 'string', renderToStaticMarkup: 'markup' } as const;

function stringOf(
  children: ReactNode,
  options: ServerOptions | undefined,
  api: 'renderToString' | 'renderToStaticMarkup',
): string {
  const prefix = options ? options.identifierPrefix : undefined;
  return ownOr(
    api,
    () => renderString(children, MODES[api], prefix),
    () => ReactDOMServer[api](children, options),
  );
}

/** Ours, unless there is a reason to leave it to react-dom; that may also turn out meanwhile. */
function ownOr<Whole>(api: string, own: () => Whole, byReactDOM: () => Whole): Whole {
  countRender();
  let reason = reasonToDelegate();
  if (reason === null) {
    try {
      return own();
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      reason = error.reason;
    }
  }
  countFallback({ reason, api });
  return byReactDOM();
}

/** Ours, unless there is a `reason` to leave it to react-dom; that may also turn out meanwhile. */
function renderBy<Result>(
  api: string,
  reason: string | null,
  byReactDOM: (left: Left, headersAreSent: boolean) => Result,
  own: (renderWithReactDOM: (left: Left, headersAreSent?: boolean) => Result) => Result,
): Result {
  countRender();
  const renderWithReactDOM = (left: Left, headersAreSent = false): Result => {
    countFallback({ reason: left.reason, api });
    return byReactDOM(left, headersAreSent);
  };
  return reason === null ? own(renderWithReactDOM) : renderWithReactDOM({ reason, toldErrors: [] });
}

export function renderToPipeableStream(
  children: ReactNode,
  options?: RenderToPipeableStreamOptions,
): PipeableStream {
  return renderBy<PipeableStream>(
    'renderToPipeableStream',
    reasonToDelegateStreams(),
    (left, headersAreSent) =>
      ReactDOMServer.renderToPipeableStream(children, withoutTold(options, left.toldErrors, headersAreSent)),
    (leave) => pipeableStream(children, pipeableOptions(options), leave) as unknown as PipeableStream,
  );
}

export function renderToReadableStream(
  children: ReactNode,
  options?: RenderToReadableStreamOptions,
): Promise<ReactDOMServerReadableStream> {
  return renderBy(
    'renderToReadableStream',
    reasonToDelegateWebStreams(),
    (left) =>
      functionOf(
        ReactDOMServer,
        'renderToReadableStream',
        '19.2',
      )(children, withoutTold(options, left.toldErrors)),
    (leave) => readableStream(children, readableOptions(options), leave),
  );
}

// React 18 tells them only some turns later, for which no stream should have to wait.
if (profile.turns === 'begin-late' && reasonToDelegateStreams() === null) {
  learnClientScripts().catch(() => undefined);
}

export function prerender(children: ReactNode, options?: PrerenderOptions): Promise<PrerenderResult> {
  return renderBy<Promise<PrerenderResult>>(
    'prerender',
    reasonToDelegateWebStreams() ?? reasonToDelegatePrerender(options),
    (left) =>
      withStatic((module) =>
        functionOf(module, 'prerender', '19.2')(children, withoutTold(options, left.toldErrors)),
      ),
    (leave) => {
      const { onHeaders, ...rest } = prerenderOptions(options) as ReadableOptions;
      const headers = onHeaders && ((given: object) => onHeaders(new Headers({ ...given })));
      const given: StreamOptions = ownOptions({ ...rest, onHeaders: headers });
      return prerenderWith(children, given, webPrelude, leave as never);
    },
  );
}

export function prerenderToNodeStream(
  children: ReactNode,
  options?: PrerenderOptions,
): Promise<PrerenderToNodeStreamResult> {
  return renderBy<Promise<PrerenderToNodeStreamResult>>(
    'prerenderToNodeStream',
    reasonToDelegatePrerender(options),
    (left) =>
      withStatic((module) =>
        functionOf(module, 'prerenderToNodeStream', '19.0')(children, withoutTold(options, left.toldErrors)),
      ),
    (leave) =>
      prerenderWith(children, prerenderOptions(options) as StreamOptions, nodePrelude, leave as never),
  );
}

/**
 * Returns a reason for prerenders with a signal: a part that is not ready may have to be resumed later, and only
 * react-dom knows how.
 */
function reasonToDelegatePrerender(options: PrerenderOptions | undefined): string | null {
  if (profile.api === 'streams') return `prerender of React ${version}`;
  return reasonToDelegateStreams() ?? (options?.signal ? 'prerender with a signal' : null);
}
