/**
 * The one place that turns a page into an answer. It knows the renderer, which has react-dom's functions and gives its HTML;
 * the routes do not.
 */

import type { ReactNode } from 'react';
import type { NextFunction, Response } from 'express';
import type { PageGraph } from '@sluice/graph/server';
import { renderToPipeableStream } from '@sluice/react/server';

export interface PageOptions {
  status?: number;
  script: string;
  /** Graph that the page's components read. */
  graph?: PageGraph | undefined;
}

/**
 * Streams a page: all that is ready at once, then each suspended part as it comes. An error before the first byte
 * goes to `next`; one inside a suspended part leaves that part to its fallback and is logged.
 */
export function sendPage(res: Response, next: NextFunction, page: ReactNode, options: PageOptions): void {
  const { graph } = options;
  if (graph === undefined) stream(res, next, page, options);
  else graph.run(() => stream(res, next, page, options));
}

function stream(res: Response, next: NextFunction, page: ReactNode, options: PageOptions): void {
  let failedEarly = false;
  const { pipe, abort } = renderToPipeableStream(page, {
    bootstrapModules: [options.script],
    onShellReady() {
      res.status(options.status ?? 200);
      res.setHeader('content-type', 'text/html; charset=utf-8');
      pipe(res);
    },
    onShellError(error) {
      failedEarly = true;
      next(error);
    },
    onError(error) {
      // A client that went away is no fault of the page.
      if (!failedEarly && !res.destroyed) console.error('A part of the page could not be rendered:', error);
    },
  });
  res.on('close', () => {
    if (!res.writableFinished) abort();
  });
}
