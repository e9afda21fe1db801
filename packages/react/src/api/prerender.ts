/** `prerender` and `prerenderToNodeStream`, without a signal: everything is waited for. What an abort leaves to be resumed is react-dom's. */
import { Readable } from 'node:stream';
import { ownOptions, type StreamOptions } from './options.js';
import { ChunkedSink, nodeReader } from '../out/sinks.js';
import { startFlowing, startStream, webStream, type Left } from './streams.js';
import { profile } from '../facts/profile.js';
import type { Render } from '../state/render.js';

export interface Prerendered<Prelude> {
  readonly prelude: Prelude;
  readonly postponed: null;
}

export function prerenderWith<Prelude>(
  children: unknown,
  options: StreamOptions,
  preludeOf: (render: Render) => Prelude,
  renderWithReactDOM: (left: Left) => Promise<Prerendered<Prelude>>,
): Promise<Prerendered<Prelude>> {
  return new Promise((resolve, reject) => {
    const render = startStream(
      children,
      ownOptions<StreamOptions>({
        ...options,
        onAllReady: () => {
          const rest = profile.api === 'web' ? { postponed: null } : {};
          resolve({ ...rest, prelude: preludeOf(render) } as Prerendered<Prelude>);
        },
        onShellReady: undefined,
        onShellError: undefined,
        onFatalError: reject,
        nonce: undefined,
        formState: undefined,
      }),
      (left) => void renderWithReactDOM(left).then(resolve, reject),
    );
    render.prerenders = true;
  });
}

export function webPrelude(render: Render): ReadableStream<Uint8Array> {
  return webStream(render);
}

export function nodePrelude(render: Render): Readable {
  const readable = new Readable({ read: () => startFlowing(render, sink) });
  const sink = new ChunkedSink(nodeReader(readable));
  return readable;
}
