/**
 * React 18 and 19. Components render synchronously, by `@sluice/react` if it is installed and by react-dom if not. A
 * component that waits for data cannot. Its render is repeated by one that waits until all is there, and so are its next
 * renders until one of them has waited for nothing. It must not know pages.
 */
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Component, createElement, type ComponentType, type ReactElement, type ReactNode } from 'react';
import type { Props } from '../component.js';
import { callApp, logText, messageOf, tamed } from '../thrown.js';
import type { Adapter, RenderContext } from './adapter.js';
import { SLOT_TAG } from './slot.js';

interface StringOptions {
  readonly identifierPrefix?: string;
}

interface PipeableOptions extends StringOptions {
  /** HTML that is larger is sent by a script; in bytes. */
  readonly progressiveChunkSize?: number;
  readonly onAllReady?: () => void;
  readonly onShellError?: (error: unknown) => void;
  readonly onError?: (error: unknown) => void;
}

/** The functions of `react-dom/server` that are used here. */
export interface ReactServer {
  renderToString(node: ReactNode, options?: StringOptions): string;
  renderToStaticMarkup(node: ReactNode, options?: StringOptions): string;
  renderToPipeableStream(
    node: ReactNode,
    options?: PipeableOptions,
  ): { pipe<T extends NodeJS.WritableStream>(destination: T): T; abort(reason?: unknown): void };
}

export interface ReactOptions {
  /** Default: `@sluice/react/server` where it is installed, else `react-dom/server`. */
  readonly server?: ReactServer;
  /**
   * Component around each box, for what all of them need: theme, language, router. The browser's adapter takes the same.
   * Default: none.
   */
  readonly wrap?: ComponentType<{ readonly children: ReactNode }> | undefined;
  /** Called with errors within a Suspense boundary, which the browser renders instead. Default: they go to stderr. */
  readonly onError?: (error: unknown) => void;
}

/** Boundaries that were left to the browser, because they failed or wait. */
const LEFT_TO_BROWSER = /<!--\$[!?]-->/;

export function react({ server = installedServer(), wrap, onError = tell }: ReactOptions = {}): Adapter {
  /** Views whose latest render waited for data. */
  const waiting = new WeakSet<object>();
  return {
    name: 'react',
    recognises: isReactComponent,
    render(view, props, context) {
      const given = context.slots.names.length === 0 ? props : { ...props, ...slotElements(context) };
      const own = createElement(view as ComponentType, given);
      const element = wrap === undefined ? own : createElement(wrap, null, own);
      if (!waiting.has(view as object)) {
        const html = renderAtOnce(server, element, context);
        if (html !== undefined) return html;
      }
      return renderWhole(server, element, context, onError, (hasWaited) => {
        if (hasWaited) waiting.add(view as object);
        else waiting.delete(view as object);
      });
    },
  };
}

/** React calls this where nobody catches what an `onError` throws. */
function tellOf(error: unknown, onError: (error: unknown) => void): void {
  callApp(
    () => onError(tamed(error)),
    (thrown) => console.error(`onError of react() threw: ${logText(thrown)}`),
  );
}

function tell(error: unknown): void {
  console.error(`The browser renders a Suspense boundary: ${logText(error)}`);
}

/** Marks of what `memo`, `forwardRef` and `lazy` make of components. */
const MADE_BY_REACT: ReadonlySet<unknown> = new Set(
  ['react.memo', 'react.forward_ref', 'react.lazy'].map((name) => Symbol.for(name)),
);

/** Classes, and what React makes of components, are marked. */
function isReactComponent(view: unknown): boolean | 'perhaps' {
  if (typeof view === 'object' && view !== null)
    return '$$typeof' in view && MADE_BY_REACT.has(view.$$typeof);
  if (typeof view !== 'function') return false;
  if (view.prototype instanceof Component) return true;
  // Those of preact/compat are functions with the same mark.
  return !('$$typeof' in view) && 'perhaps';
}

/** Undefined where something of it waits. */
function renderAtOnce(
  server: ReactServer,
  element: ReactElement,
  context: RenderContext,
): string | undefined {
  const options = { identifierPrefix: context.id };
  try {
    const html = server.renderToString(element, options);
    if (isLeftToBrowser(html)) return undefined;
    // Static markup does not say whether a boundary waits, so it is made only where it is known that none does, and of what has marks.
    return context.isStatic === true && html.includes('<!--')
      ? server.renderToStaticMarkup(element, options)
      : html;
  } catch (error) {
    if (isSuspension(error)) return undefined;
    throw error;
  }
}

/** Looks for what is rare first: a search for one character passes over most HTML at the speed of memory. */
function isLeftToBrowser(html: string): boolean {
  return (html.includes('$!') || html.includes('$?')) && LEFT_TO_BROWSER.test(html);
}

/** React says so in the same words since version 18. */
function isSuspension(error: unknown): boolean {
  return /^A (?:component|React component) suspended/.test(messageOf(error));
}

/** Waits for everything, and has all HTML in its place: no boundary comes later by a script. */
async function renderWhole(
  server: ReactServer,
  element: ReactElement,
  context: RenderContext,
  onError: (error: unknown) => void,
  note: (hasWaited: boolean) => void,
): Promise<string> {
  const { signal } = context;
  const destination = new PassThrough();
  const gate = new Gate(element);
  // The error of a component without a boundary is that of the render, and is told by whoever asked for it.
  const within: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    const stream = server.renderToPipeableStream(createElement(gate.component), {
      identifierPrefix: context.id,
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      onAllReady() {
        signal.removeEventListener('abort', leave);
        note(gate.hasWaited);
        if (within.length > 0) context.tellPartial?.();
        if (!signal.aborted) for (const error of within) tellOf(error, onError);
        stream.pipe(destination);
        resolve();
      },
      onShellError: reject,
      // React takes what this returns for a digest.
      onError: (error) => void within.push(error),
    });
    const leave = (): void => stream.abort(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  return text(destination);
}

/**
 * Holds a component back until React's request is a turn of the event loop old. Before that, React 19 resumes what waits in a
 * microtask, and a component that throws settled promises again and again would let no timer fire and no other request in.
 * Later, each resumption has a macrotask of its own, so that the box's limits end it.
 */
class Gate {
  #isOpen = false;
  #isFirstRun = false;
  readonly #element: ReactElement;

  constructor(element: ReactElement) {
    this.#element = element;
  }

  readonly component = (): ReactElement => {
    // oxlint-disable-next-line typescript/only-throw-error -- so a component of React 18 waits
    if (!this.#isOpen) throw this.#open();
    this.#isFirstRun = true;
    queueMicrotask(() => (this.#isFirstRun = false));
    return this.#element;
  };

  /** Asked at the end of the render: whether that is another run than the one in which the component began. */
  get hasWaited(): boolean {
    return !this.#isFirstRun;
  }

  async #open(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#isOpen = true;
  }
}

/** Slots are props: the default one is `children`, the others have their names. */
function slotElements({ slots }: RenderContext): Props {
  return Object.fromEntries(slots.names.map((name) => [name === 'default' ? 'children' : name, slot(name)]));
}

/** Hydration neither renders nor compares the content. */
function slot(name: string): ReactElement {
  return createElement(SLOT_TAG, {
    key: name,
    n: name,
    suppressHydrationWarning: true,
    dangerouslySetInnerHTML: { __html: '' },
  });
}

function installedServer(): ReactServer {
  const require = createRequire(import.meta.url);
  try {
    return require('@sluice/react/server') as ReactServer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return require('react-dom/server') as ReactServer;
  }
}
