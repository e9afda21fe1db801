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
import { countFallback, countRender, reasonToDelegate, reasonToDelegateStreams } from './fallback.js';
import { ReactDOMServer, version } from './react.js';
import { pipeableStream, readableStream, type ReadableOptions, type StreamOptions } from './streams.js';
import { renderString } from './strings.js';
import { Unsupported } from './unsupported.js';

export { onFallback, statistics } from './fallback.js';
export type { Fallback, FallbackListener, Statistics } from './fallback.js';
export { version };

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
  const renderWithReactDOM = (reason: string, headersAreSent = false): PipeableStream => {
    countFallback({ reason, api });
    const { onHeaders: _sent, ...rest } = options ?? {};
    return ReactDOMServer.renderToPipeableStream(children, headersAreSent ? rest : options);
  };
  const reason = reasonToDelegateStreams();
  if (reason !== null) return renderWithReactDOM(reason);
  const stream = pipeableStream(children, (options ?? {}) as StreamOptions, renderWithReactDOM as never);
  return stream as unknown as PipeableStream;
}

export function renderToReadableStream(
  children: ReactNode,
  options?: RenderToReadableStreamOptions,
): Promise<ReactDOMServerReadableStream> {
  const api = 'renderToReadableStream';
  countRender();
  const renderWithReactDOM = (reason: string): Promise<ReactDOMServerReadableStream> => {
    countFallback({ reason, api });
    return ReactDOMServer.renderToReadableStream(children, options);
  };
  const reason = reasonToDelegateStreams();
  if (reason !== null) return renderWithReactDOM(reason);
  return readableStream(
    children,
    (options ?? {}) as ReadableOptions,
    renderWithReactDOM as never,
  ) as unknown as Promise<ReactDOMServerReadableStream>;
}

export async function prerender(children: ReactNode, options?: PrerenderOptions): Promise<PrerenderResult> {
  countRender();
  countFallback({ reason: reasonToDelegate() ?? 'prerender', api: 'prerender' });
  const { prerender: render } = await import('react-dom/static');
  return render(children, options);
}

export async function prerenderToNodeStream(
  children: ReactNode,
  options?: PrerenderOptions,
): Promise<PrerenderToNodeStreamResult> {
  countRender();
  countFallback({ reason: reasonToDelegate() ?? 'prerender', api: 'prerenderToNodeStream' });
  const { prerenderToNodeStream: render } = await import('react-dom/static');
  return render(children, options);
}
