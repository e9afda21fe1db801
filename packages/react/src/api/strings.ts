/** `renderToString`, `renderToBuffer` and `renderToStaticMarkup`: one turn of work, after which the client renders what still waits. */
import { abort } from '../work/abort.js';
import { rootFormat } from '../facts/format.js';
import { flushCompleted } from '../out/flush.js';
import { startRoot } from '../work/root.js';
import { performWork } from '../work/scheduler.js';
import { BufferSink, StringSink } from '../out/sinks.js';
import { asFatal } from '../facts/recoverable.js';
import { CLOSED, FAILED, OPEN, Render, type RenderOptions } from '../state/render.js';

function nothing(): void {
  // Errors within a boundary are the client's to report.
}

const NOT_ASYNC = {
  string:
    'The server used "renderToString" which does not support Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please switch to "renderToPipeableStream" which supports Suspense on the server',
  markup:
    'The server used "renderToStaticMarkup" which does not support Suspense. If you intended to have the server wait for the suspended component please switch to "renderToPipeableStream" which supports Suspense on the server',
};

/** Options that inherit nothing, as those of `ownOptions`, but are made and read faster: a box of a page is a small render. */
class StringOptions implements RenderOptions {
  readonly identifierPrefix: string | undefined;
  readonly progressiveChunkSize = Number.POSITIVE_INFINITY;
  readonly onError = nothing;
  readonly onShellReady: () => void;

  static {
    Object.setPrototypeOf(this.prototype, null);
  }

  constructor(identifierPrefix: string | undefined, onShellReady: () => void) {
    this.identifierPrefix = identifierPrefix;
    this.onShellReady = onShellReady;
  }
}

export function renderString(
  children: unknown,
  mode: 'string' | 'markup',
  identifierPrefix: string | undefined,
): string {
  return renderTo(new StringSink(), children, mode, identifierPrefix).html;
}

/** The UTF-8 of `renderString`. Encoded in stretches: a long string would be joined, measured and encoded outside of the cache. */
export function renderBuffer(children: unknown, identifierPrefix: string | undefined): Buffer {
  return renderTo(new BufferSink(), children, 'string', identifierPrefix).whole();
}

function renderTo<Whole extends StringSink | BufferSink>(
  sink: Whole,
  children: unknown,
  mode: 'string' | 'markup',
  identifierPrefix: string | undefined,
): Whole {
  let shellIsReady = false;
  const reason = NOT_ASYNC[mode];
  const options = new StringOptions(identifierPrefix, () => {
    shellIsReady = true;
  });
  const render = new Render(mode, rootFormat(), options, sink instanceof BufferSink);
  startRoot(render, children);
  performWork(render);
  if (render.status < OPEN) render.status = OPEN;
  abort(render, reason);
  if (render.status === FAILED) {
    sink.destroy(asFatal(render.fatalError));
    render.status = CLOSED;
  } else {
    render.sink = sink;
    flushCompleted(render, sink);
  }
  // From here on the render is ours: one that is left to react-dom does not go on.
  render.mayFallBack = false;
  render.work = performWork;
  if (sink.failed && sink.error !== reason) throw sink.error;
  if (!shellIsReady) {
    throw new Error(
      'A component suspended while responding to synchronous input. This will cause the UI to be replaced with a loading indicator. To fix, updates that suspend should be wrapped with startTransition.',
    );
  }
  return sink;
}
