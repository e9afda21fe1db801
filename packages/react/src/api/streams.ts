/** `renderToPipeableStream` and `renderToReadableStream`. */
import type { Writable } from 'node:stream';
import { abort } from '../work/abort.js';
import { knowsClientScripts, learnClientScripts } from '../facts/client-scripts.js';
import { emitEarlyPreloads } from '../out/early-hints.js';
import { logRecoverable } from '../state/errors.js';
import { flushCompleted } from '../out/flush.js';
import { rootFormat } from '../facts/format.js';
import { ownOptions, type ReadableOptions, type StreamOptions } from './options.js';
import { asFatal } from '../facts/recoverable.js';
import { startRoot } from '../work/root.js';
import { performWork, startWork } from '../work/scheduler.js';
import { ChunkedSink, webReader } from '../out/sinks.js';
import { fatalError } from '../work/ends.js';
import { Unsupported } from '../facts/unsupported.js';
import { CLOSED, FAILED, Render, type Sink, type ToldError } from '../state/render.js';

/** A render that is react-dom's from now on. */
export interface Left {
  readonly reason: string;
  readonly toldErrors: readonly ToldError[];
}

/** Starts a render; `onUnsupported` is called, before anything has been said or sent, when it has to be react-dom's. */
export function startStream(
  children: unknown,
  options: StreamOptions,
  onUnsupported: (left: Left) => void,
): Render {
  const render = new Render('stream', rootFormat(options.namespaceURI), options);
  render.work = workOr(onUnsupported);
  startRoot(render, children, options.namespaceURI);
  if (knowsClientScripts()) startWork(render);
  else {
    // Once in the life of the process. It takes a few microtasks only, so that the order of all else stays as it is.
    learnClientScripts().then(
      () => startWork(render),
      () => {
        giveUp(render);
        onUnsupported({ reason: 'unknown client scripts', toldErrors: [] });
      },
    );
  }
  return render;
}

/** Performs the render's work; `onUnsupported` is called when it has to be react-dom's. */
function workOr(onUnsupported: (left: Left) => void): (render: Render) => void {
  return (render) => {
    try {
      performWork(render);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      giveUp(render);
      onUnsupported({ reason: error.reason, toldErrors: render.toldErrors });
    }
  };
}

/** The render is somebody else's now: nothing of it may be heard of any more. */
function giveUp(render: Render): void {
  render.status = CLOSED;
  render.abortableTasks.clear();
  render.sink = null;
}

export function startFlowing(render: Render, sink: Sink): void {
  if (render.status === FAILED) {
    render.status = CLOSED;
    sink.destroy(asFatal(render.fatalError));
    return;
  }
  if (render.status === CLOSED || render.sink !== null) return;
  render.sink = sink;
  try {
    flushCompleted(render, sink);
  } catch (error) {
    logRecoverable(render, error, {});
    fatalError(render, error);
  }
}

// Node streams -----------------------------------------------------------------------------------------------------

export interface Pipeable {
  pipe<Destination extends Writable>(destination: Destination): Destination;
  abort(reason?: unknown): void;
}

/** `renderWithReactDOM` takes over when this renderer cannot do it; then nothing has been piped yet. */
export function pipeableStream(
  children: unknown,
  options: StreamOptions,
  renderWithReactDOM: (left: Left, headersAreSent: boolean) => Pipeable,
): Pipeable {
  let other: Pipeable | null = null;
  let piped: Writable | null = null;
  const render = startStream(children, options, (left) => {
    other = renderWithReactDOM(left, piped !== null);
    if (piped !== null) other.pipe(piped);
  });
  return {
    pipe(destination) {
      if (other !== null) return other.pipe(destination);
      if (piped !== null) throw new Error('React currently only supports piping to one writable stream.');
      piped = destination;
      const sink = new ChunkedSink(destination);
      emitEarlyPreloads(render, render.pendingRootTasks === 0);
      startFlowing(render, sink);
      const cancel = (reason: string) => () => {
        render.sink = null;
        abort(render, new Error(reason));
      };
      destination.on('drain', () => startFlowing(render, sink));
      destination.on('error', cancel('The destination stream errored while writing data.'));
      destination.on('close', cancel('The destination stream closed early.'));
      return destination;
    },
    abort(reason) {
      if (other === null) abort(render, reason);
      else other.abort(reason);
    },
  };
}

// Web streams ------------------------------------------------------------------------------------------------------

export type RenderedStream = ReadableStream<Uint8Array> & { allReady: Promise<void> };

export function readableStream(
  children: unknown,
  options: ReadableOptions,
  renderWithReactDOM: (left: Left) => Promise<RenderedStream>,
): Promise<RenderedStream> {
  return new Promise((resolve, reject) => {
    let onAllReady: () => void = () => undefined;
    let onFatalError: (error: unknown) => void = () => undefined;
    const allReady = new Promise<void>((done, fail) => {
      onAllReady = done;
      onFatalError = fail;
    });
    const { onHeaders, signal, ...rest } = options;
    const render = startStream(
      children,
      ownOptions<StreamOptions>({
        ...rest,
        onHeaders: onHeaders && ((headers) => onHeaders(new Headers({ ...headers }))),
        onAllReady,
        onFatalError,
        onShellReady: () => {
          const stream = webStream(render) as RenderedStream;
          stream.allReady = allReady;
          resolve(stream);
        },
        onShellError: (error) => {
          allReady.catch(() => undefined);
          reject(error);
        },
      }),
      (left) => void renderWithReactDOM(left).then(resolve, reject),
    );
    if (signal?.aborted) abort(render, signal.reason);
    else if (signal) {
      render.lifetime = new AbortController();
      signal.addEventListener('abort', () => abort(render, signal.reason), {
        signal: render.lifetime.signal,
      });
    }
  });
}

export function webStream(render: Render): ReadableStream<Uint8Array> {
  let sink: ChunkedSink;
  return new ReadableStream(
    {
      type: 'bytes',
      start(controller) {
        sink = new ChunkedSink(webReader(controller));
      },
      pull() {
        startFlowing(render, sink);
      },
      cancel(reason) {
        render.sink = null;
        abort(render, reason);
      },
    },
    { highWaterMark: 0 },
  );
}
