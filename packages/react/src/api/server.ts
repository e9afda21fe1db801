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
import { ReactDOMServer, knownVersion, react18, version } from '../facts/react.js';
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
import { renderString } from './strings.js';
import { Unsupported } from '../facts/unsupported.js';
import { beginsNextTurn } from '../facts/versions.js';

export { cacheStatistics, configureCache, purge } from '../cache/caches.js';
export type { CacheOptions } from '../cache/caches.js';
export type { CacheStatistics } from '../cache/component-cache.js';
export { onFallback, statistics } from './fallback.js';
export type { Fallback, FallbackListener, Statistics } from './fallback.js';
export { collectTags } from '../cache/tags.js';
export type { Tagged } from '../cache/tags.js';
export { version };

register();

export function renderToString(children: ReactNode, options?: ServerOptions): string {
  return stringOf(children, options, 'renderToString');
}

export function renderToStaticMarkup(children: ReactNode, options?: ServerOptions): string {
  return stringOf(children, options, 'renderToStaticMarkup');
}

const MODES = { renderToString: 'string', renderToStaticMarkup: 'markup' } as const;

function stringOf(
  children: ReactNode,
  options: ServerOptions | undefined,
  api: 'renderToString' | 'renderToStaticMarkup',
): string {
  countRender();
  let reason = reasonToDelegate();
  if (reason === null) {
    try {
      return renderString(children, MODES[api], options ? options.identifierPrefix : undefined);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      reason = error.reason;
    }
  }
  countFallback({ reason, api });
  return ReactDOMServer[api](children, options);
}

export function renderToPipeableStream(
  children: ReactNode,
  options?: RenderToPipeableStreamOptions,
): PipeableStream {
  const api = 'renderToPipeableStream';
  countRender();
  const renderWithReactDOM = ({ reason, toldErrors }: Left, headersAreSent = false): PipeableStream => {
    countFallback({ reason, api });
    const given = withoutTold(options, toldErrors, headersAreSent);
    return ReactDOMServer.renderToPipeableStream(children, given);
  };
  const reason = reasonToDelegateStreams();
  if (reason !== null) return renderWithReactDOM(asLeft(reason));
  const stream = pipeableStream(children, pipeableOptions(options), renderWithReactDOM);
  return stream as unknown as PipeableStream;
}

export function renderToReadableStream(
  children: ReactNode,
  options?: RenderToReadableStreamOptions,
): Promise<ReactDOMServerReadableStream> {
  const api = 'renderToReadableStream';
  countRender();
  const renderWithReactDOM = ({ reason, toldErrors }: Left): Promise<ReactDOMServerReadableStream> => {
    countFallback({ reason, api });
    return ReactDOMServer.renderToReadableStream(children, withoutTold(options, toldErrors));
  };
  const reason = reasonToDelegateWebStreams();
  if (reason !== null) return renderWithReactDOM(asLeft(reason));
  return readableStream(children, readableOptions(options), renderWithReactDOM);
}

function asLeft(reason: string): Left {
  return { reason, toldErrors: [] };
}

type StaticModule = typeof import('react-dom/static');

/** React 18 does not have it, so that it cannot be imported as the rest is. */
let staticModule: StaticModule | null = null;

async function loadStatic(): Promise<StaticModule> {
  staticModule = await import('react-dom/static');
  return staticModule;
}

function withStatic<Result>(use: (module: StaticModule) => Promise<Result>): Promise<Result> {
  return staticModule === null ? loadStatic().then(use) : use(staticModule);
}

// Its code is that of `react-dom/server`, which is loaded: this costs nothing, and saves a turn later.
if (!react18) loadStatic().catch(() => undefined);

// React 18 tells them only some turns later, for which no stream should have to wait.
if (beginsNextTurn && knownVersion && reasonToDelegateStreams() === null) {
  learnClientScripts().catch(() => undefined);
}

export function prerender(children: ReactNode, options?: PrerenderOptions): Promise<PrerenderResult> {
  const renderWithReactDOM = ({ reason, toldErrors }: Left): Promise<PrerenderResult> => {
    countFallback({ reason, api: 'prerender' });
    return withStatic((module) => module.prerender(children, withoutTold(options, toldErrors)));
  };
  countRender();
  const reason = reasonToDelegateWebStreams() ?? reasonToDelegatePrerender(options);
  if (reason !== null) return renderWithReactDOM(asLeft(reason));
  const { onHeaders, ...rest } = prerenderOptions(options) as ReadableOptions;
  const headers = onHeaders && ((given: object) => onHeaders(new Headers({ ...given })));
  const given: StreamOptions = ownOptions({ ...rest, onHeaders: headers });
  return prerenderWith(children, given, webPrelude, renderWithReactDOM as never);
}

export function prerenderToNodeStream(
  children: ReactNode,
  options?: PrerenderOptions,
): Promise<PrerenderToNodeStreamResult> {
  const renderWithReactDOM = ({ reason, toldErrors }: Left): Promise<PrerenderToNodeStreamResult> => {
    countFallback({ reason, api: 'prerenderToNodeStream' });
    return withStatic((module) => module.prerenderToNodeStream(children, withoutTold(options, toldErrors)));
  };
  countRender();
  const reason = reasonToDelegatePrerender(options);
  if (reason !== null) return renderWithReactDOM(asLeft(reason));
  const given = prerenderOptions(options) as StreamOptions;
  return prerenderWith(children, given, nodePrelude, renderWithReactDOM as never);
}

/** With a signal, what is not ready may have to be resumed later: only react-dom knows how. */
function reasonToDelegatePrerender(options: PrerenderOptions | undefined): string | null {
  if (react18) return `prerender of React ${version}`;
  return reasonToDelegateStreams() ?? (options?.signal ? 'prerender with a signal' : null);
}
