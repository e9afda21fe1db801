import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ReactNode } from 'react';
import type { RenderToPipeableStreamOptions } from 'react-dom/server';
import type { stock } from './renderers.js';

/** What `renderToPipeableStream` writes when all of the page is there. Rejects where there is not even a shell. */
export function piped(
  server: Pick<typeof stock, 'renderToPipeableStream'>,
  node: ReactNode,
  options?: RenderToPipeableStreamOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { pipe } = server.renderToPipeableStream(node, {
      onError: () => undefined,
      ...options,
      onAllReady: () => resolve(text(pipe(new PassThrough()))),
      onShellError: reject,
    });
  });
}
