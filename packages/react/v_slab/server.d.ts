/**
 * `@sluice/react/server`: what `react-dom/server` exports, with the same signatures and the same output. What cannot be rendered identically is
 * rendered by react-dom, which is decided before anything is sent.
 */
import type { ReactNode } from 'react';
import type { PipeableStream, ReactDOMServerReadableStream, RenderToPipeableStreamOptions, RenderToReadableStreamOptions, ServerOptions } from 'react-dom/server';
import type { PrerenderOptions, PrerenderResult, PrerenderToNodeStreamResult } from 'react-dom/static';
import { version } from './react.js';
export { onFallback, statistics } from './fallback.js';
export type { Fallback, FallbackListener, Statistics } from './fallback.js';
export { version };
export declare function renderToString(children: ReactNode, options?: ServerOptions): string;
export declare function renderToStaticMarkup(children: ReactNode, options?: ServerOptions): string;
export declare function renderToPipeableStream(children: ReactNode, options?: RenderToPipeableStreamOptions): PipeableStream;
export declare function renderToReadableStream(children: ReactNode, options?: RenderToReadableStreamOptions): Promise<ReactDOMServerReadableStream>;
export declare function prerender(children: ReactNode, options?: PrerenderOptions): Promise<PrerenderResult>;
export declare function prerenderToNodeStream(children: ReactNode, options?: PrerenderOptions): Promise<PrerenderToNodeStreamResult>;
