/**
 * `@sluice/react/server`: what `react-dom/server` exports, with the same signatures and the same output. What cannot be rendered identically is
 * rendered by react-dom, which is decided before anything is sent.
 */
import type { ReactNode } from 'react';
import type { ServerOptions } from 'react-dom/server';
import { countFallback, countRender, reasonToDelegate } from './fallback.js';
import { ReactDOMServer, version } from './react.js';
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
