/**
 * The scripts by which react-dom's server speaks to its client. They are part of the version of react-dom that the app has, so they are
 * taken from it. It renders a few small pages, one for each script, once in the life of the process, before the first stream.
 */
import { ELEMENT, React, ReactDOMServer, SUSPENSE, VIEW_TRANSITION, type Props } from './react.js';
import type { Thenable } from './thenables.js';
import { Unsupported } from './unsupported.js';
import { profile } from './profile.js';

export interface ClientScripts {
  /** `$RS=…`: puts a late segment into its place. */
  readonly completeSegment: string;
  /** `$RC=…`: shows a boundary's content. */
  readonly completeBoundary: string;
  /** `$RX=…`, as it stands before other scripts and as it stands before its own call. */
  readonly clientRender: string;
  readonly clientRenderBeforeCall: string;
  /** `$RR=…`: loads stylesheets first. */
  readonly insertStyles: string;
  /** Lets content appear in a view transition; '' where react-dom has none. */
  readonly viewTransitions: string;
  /** Script that runs when the shell has come. */
  readonly shellTime: string;
}

let scripts: ClientScripts | null = null;
let learning: Promise<void> | null = null;

/**
 * Returns the scripts, which are known once `learnClientScripts` is done: streams wait for that. Strings hardly ever need them, and
 * then leave it to react-dom.
 */
export function clientScripts(): ClientScripts {
  if (scripts !== null) return scripts;
  learnClientScripts().catch(() => undefined);
  throw new Unsupported('client scripts not known yet');
}

export function knowsClientScripts(): boolean {
  return scripts !== null;
}

/** Resolves within the microtasks of this turn; rejects when react-dom's output is not what this renderer knows to read. */
export function learnClientScripts(): Promise<void> {
  learning ??= readScripts();
  return learning;
}

type Stages = readonly [shell: string, late: string];

async function readScripts(): Promise<void> {
  const late = (tag: string, props: Props): (() => unknown) => {
    return () => element(tag, props);
  };
  const fails = (): never => {
    throw new Error('Expected: asks for the script that reports an error.');
  };
  const text = late('b', {});
  const stylesheet = late('link', { rel: 'stylesheet', href: '/x.css', precedence: 'p' });
  const [[shell, segment], [, failed], styled, animated] = await Promise.all([
    stagesOf(text, (content) => boundary(element('p', { children: ['a', content] }))),
    stagesOf(fails, boundary),
    profile.head === 'in-place' ? null : stagesOf(stylesheet, boundary),
    'ViewTransition' in React
      ? stagesOf(text, (content) => element(VIEW_TRANSITION, { children: boundary(content) }))
      : null,
  ]);
  const completeSegment = before(segment, '$RS("S:1"');
  const completeBoundary = before(segment, '$RC("B:0"');
  const clientRenderBeforeCall = before(failed, '$RX("B:0"');
  let clientRender = '';
  let insertStyles = '';
  if (styled !== null) {
    const insert = before(styled[1], '$RR("B:0"');
    const completeAt = insert.indexOf(completeBoundary);
    clientRender = insert.slice(0, completeAt);
    if (completeAt < 0 || !clientRenderBeforeCall.startsWith(clientRender)) throw unknownOrder();
    insertStyles = insert.slice(completeAt + completeBoundary.length);
  }
  let viewTransitions = '';
  if (animated !== null) {
    const both = before(animated[1], '$RC("B:0"');
    if (!both.startsWith(completeBoundary)) throw unknownOrder();
    viewTransitions = both.slice(completeBoundary.length);
  }
  scripts = {
    completeSegment,
    completeBoundary,
    clientRender,
    clientRenderBeforeCall,
    insertStyles,
    viewTransitions,
    shellTime: /<script[^>]*>(.*?)<\/script>/s.exec(shell)?.[1] ?? '',
  };
}

const unknownOrder = (): Error => new Error('The scripts of react-dom are in an unknown order.');

/** The text of a script up to the call that follows the functions it defines. */
function before(html: string, call: string): string {
  const end = html.indexOf(call);
  const start = html.lastIndexOf('<script>', end);
  if (end < 0 || start < 0) throw new Error(`No ${call} in what react-dom wrote.`);
  return html.slice(start + '<script>'.length, end);
}

function element(type: unknown, props: Props): unknown {
  return { $$typeof: ELEMENT, type, key: null, ref: null, props, _owner: null };
}

function boundary(children: unknown): unknown {
  return element(SUSPENSE, { fallback: null, children });
}

/** A boundary that could still contain the whole document would hold up the shell. */
function shellAround(children: unknown): unknown {
  return element('div', { children });
}

/** Returns what react-dom writes for the shell, and what it writes when the content has come, which `content` gives. */
async function stagesOf(content: () => unknown, page: (content: unknown) => unknown): Promise<Stages> {
  let arrived = false;
  let arrive: () => void = () => undefined;
  const arrival: Thenable = {
    // oxlint-disable-next-line unicorn/no-thenable -- a promise would only come in a later microtask
    then(resolve) {
      arrive = () => resolve(undefined);
    },
  };
  const Late = (): unknown => {
    if (!arrived) throw arrival;
    return content();
  };
  let html = '';
  const { promise: ended, resolve: end } = deferred();
  const destination = {
    write(chunk: string | Uint8Array) {
      html += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    },
    end,
    destroy: end,
    on: () => destination,
  };
  const { promise: shellIsReady, resolve: onShellReady } = deferred();
  const { pipe } = ReactDOMServer.renderToPipeableStream(shellAround(page(element(Late, {}))) as never, {
    onShellReady,
    onError: () => undefined,
  });
  pipe(destination as never);
  await shellIsReady;
  const shell = html;
  arrived = true;
  arrive();
  await ended;
  return [shell, html.slice(shell.length)];
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

let formReplay: string | null = null;

/** The script that keeps what is submitted before the page has come to life. */
export function formReplayScript(): string {
  if (formReplay === null) {
    const form = element('form', { action: () => undefined });
    const html = ReactDOMServer.renderToString(form as never);
    formReplay = /<script>(.*)<\/script>/s.exec(html)?.[1] ?? '';
  }
  return formReplay;
}
