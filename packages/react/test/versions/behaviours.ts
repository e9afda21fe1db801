/** What the fuzzer does not come to, compared with react-dom of each minor version of React. */

import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import type { PipeableStream, RenderToPipeableStreamOptions } from 'react-dom/server';
import { loadReact, loadSluice } from '../differential/libraries.ts';
import { awaited, comes, later, never, waits, within, type React } from './waiting.ts';

type Abort = (reason?: unknown) => void;
interface Renderer {
  renderToPipeableStream(node: ReactNode, options: RenderToPipeableStreamOptions): PipeableStream;
}

interface Case {
  readonly page: (React: React, abort: Abort) => ReactNode;
  readonly options?: object;
  /** Done in turn, one turn of the event loop after the other. */
  readonly steps?: readonly ((abort: Abort) => void)[];
  /** What `onError` returns, if not a string. */
  readonly digest?: unknown;
  /** Before the shell is there. */
  readonly pipesAtOnce?: boolean;
  /** The destination always has had enough for this turn. */
  readonly isFull?: boolean;
  /** The render's own calls that throw. */
  readonly throws?: readonly string[];
}

const aborts = (abort: Abort): void => abort(new Error('given up'));

/** Gives up while it renders, and has something to show all the same. */
const gives =
  (React: React, abort: Abort): (() => ReactNode) =>
  () => {
    abort(new Error('given up within'));
    return React.createElement('i', null, 'shown');
  };

/** Asks for an id, around content that waits and has ids as well. */
function idsAround(React: React, around: (late: ReactNode) => ReactNode): ReactNode {
  const Comes = comes(React);
  const Shows = (): ReactNode => React.createElement('i', { id: React.useId() });
  const Late = (): ReactNode => [Comes(), React.createElement(Shows, { key: 'shows' })];
  const Asks = (): ReactNode => {
    React.useId();
    return around(React.createElement(Late));
  };
  return React.createElement(Asks);
}

const headElements: Readonly<Record<string, (React: React) => ReactNode>> = {
  'a link': ({ createElement }) => createElement('link', { rel: 'icon', href: '/icon.png' }),
  'a void element': ({ createElement }) => createElement('base', { href: '/' }),
  'text in an element': ({ createElement }) => createElement('x-note', null, 'text'),
  'text in an ordinary element': ({ createElement }) => createElement('b', null, 'text'),
  'an element in an element': ({ createElement }) => createElement('b', null, createElement('i')),
  'a noscript': ({ createElement }) => createElement('noscript', null, createElement('i')),
};

/** The head and the boundary come in the same turn. In 19.1 the shell waits for what `inHead` leaves to be done after the boundary. */
function headThatWaits(React: React, inHead: ReactNode): ReactNode {
  const { createElement } = React;
  const [head, headCame] = later();
  const [content, contentCame] = later();
  const Head = (): ReactNode => {
    queueMicrotask(() => {
      headCame();
      contentCame();
    });
    return [awaited(React, head), inHead];
  };
  const Content = (): ReactNode => [awaited(React, content), 'content'];
  return createElement(
    'html',
    null,
    createElement('head', null, createElement(Head)),
    createElement('body', null, within(React, 'soon', createElement(Content)), 'end'),
  );
}

const cases: Readonly<Record<string, Case>> = {
  'an abort before the first turn': {
    page: (React) => React.createElement('p', null, 'text'),
    steps: [aborts],
  },
  'an abort by a component of the shell': {
    page: (React, abort) => React.createElement('main', null, React.createElement(gives(React, abort))),
  },
  'an abort by a component deeper in the page': {
    page: (React, abort) =>
      React.createElement(
        'main',
        null,
        React.createElement('p', null, React.createElement(gives(React, abort))),
        within(React, 'soon', React.createElement(waits(React))),
      ),
  },
  'an abort by a component, when the stream has a destination and something waits': {
    pipesAtOnce: true,
    page: (React, abort) =>
      React.createElement(
        'div',
        null,
        React.createElement(waits(React)),
        React.createElement(gives(React, abort)),
      ),
  },
  'an abort by a component of a body, when the stream has a destination': {
    pipesAtOnce: true,
    page: (React, abort) => {
      const { createElement } = React;
      const body = createElement('body', null, createElement(gives(React, abort)));
      return createElement('html', null, createElement('head'), body);
    },
  },
  'an abort by a component that then throws a promise': {
    page: (React, abort) =>
      React.createElement(() => {
        abort(new Error('given up within'));
        throw never;
      }),
  },
  'an iterable that throws a promise': {
    page: (React) => {
      const Comes = comes(React);
      const iterable = {
        *[Symbol.iterator](): Generator<ReactNode> {
          yield Comes();
        },
      };
      const Page = (): ReactNode => [
        React.createElement('b', { key: 'before' }),
        React.createElement('p', { key: 'around' }, iterable as never),
      ];
      return React.createElement(Page);
    },
  },
  'an abort by a component within a boundary': {
    page: (React, abort) =>
      React.createElement(
        'main',
        null,
        within(React, React.createElement('b', null, 'soon'), React.createElement(gives(React, abort)), 'x'),
        within(React, 'later', React.createElement(waits(React))),
      ),
  },
  'an abort by a component, and a shell that waits': {
    page: (React, abort) => [
      React.createElement(waits(React), { key: 'waits' }),
      React.createElement(gives(React, abort), { key: 'gives' }),
    ],
  },
  'an abort by a component that waits afterwards': {
    page: (React, abort) => {
      const Comes = comes(React);
      return React.createElement(() => {
        abort('given up');
        return Comes();
      });
    },
    steps: [() => undefined],
  },
  'several aborts, also when the render has failed': {
    page: (React) => [
      within(React, 'a', React.createElement(waits(React))),
      React.createElement(waits(React), { key: 'shell' }),
      within(React, 'b', React.createElement(waits(React))),
    ],
    steps: [() => undefined, aborts, aborts],
  },
  'an abort of a shell that has failed, with boundaries still waiting': {
    page: (React) =>
      React.createElement(
        'main',
        null,
        within(React, 'a', React.createElement(waits(React))),
        React.createElement(() => {
          throw new Error('the shell fails');
        }),
      ),
    steps: [() => undefined, aborts],
  },
  'a rejected promise without a reason': {
    page: (React) => {
      const rejected = Object.assign(Promise.resolve('never shown'), { status: 'rejected' });
      return React.createElement(
        'main',
        null,
        within(
          React,
          'failed',
          React.createElement(() => awaited(React, rejected)),
        ),
      );
    },
  },
  'ids of what waits directly below a component with ids': {
    page: (React) =>
      within(
        React,
        'soon',
        idsAround(React, (late) => late),
        idsAround(React, (late) => React.createElement('p', null, late)),
        idsAround(React, (late) => [late, 'and', late]),
        idsAround(React, () => idsAround(React, (late) => React.createElement(React.Fragment, null, late))),
      ),
  },
  'ids of a shell that waits directly below a component with ids': {
    page: (React) => idsAround(React, (late) => late),
  },
  ...Object.fromEntries(
    Object.entries(headElements).map(([name, element]) => [
      `${name} in a head that waited, and a boundary that comes in the same turn`,
      { page: (React: React) => headThatWaits(React, element(React)) },
    ]),
  ),
  'a reader that has had enough, and a boundary that is animated': {
    isFull: true,
    page: (React) => {
      const { createElement, Fragment } = React;
      const { ViewTransition = Fragment } = React as { ViewTransition?: typeof Fragment };
      const [promise, came] = later();
      const Comes = (): ReactNode => {
        setImmediate(() => setImmediate(came));
        return [awaited(React, promise), 'content'];
      };
      const each = ['a', 'b', 'c'].map((key) =>
        createElement('section', { key }, within(React, key, createElement(Comes))),
      );
      return createElement(ViewTransition, null, createElement('main', null, each));
    },
  },
  'a reader that has had enough, and boundaries of many small pieces': {
    isFull: true,
    page: (React) => {
      const { createElement } = React;
      const [promise, came] = later();
      const Comes = ({ count }: { count: number }): ReactNode => {
        setImmediate(() => setImmediate(came));
        void awaited(React, promise);
        return Array.from({ length: count }, (_, key) => createElement('b', { key }, 'xyxyxy'));
      };
      const each = [10, 200, 20].map((count) =>
        createElement('section', { key: count }, within(React, 'soon', createElement(Comes, { count }))),
      );
      return createElement('main', null, each);
    },
  },
  'a digest that is no string, for what is given up': {
    page: (React) => within(React, 'soon', React.createElement(waits(React))),
    steps: [() => undefined, aborts],
    digest: 7,
  },
  'a nonce that is null': {
    page: (React) => within(React, 'soon', React.createElement(comes(React))),
    options: { nonce: null, bootstrapScriptContent: 'go()', importMap: { imports: {} } },
  },
  'a limit of bytes below zero': {
    page: (React) => React.createElement('main', null, within(React, 'soon', 'content')),
    options: { progressiveChunkSize: -1 },
  },
  'a callback that throws when the shell is ready': {
    page: (React) => React.createElement('main', null, React.createElement('p', null, 'text')),
    throws: ['onShellReady'],
  },
  'a callback that throws when all is ready': {
    page: (React) =>
      React.createElement('main', null, within(React, 'soon', React.createElement(comes(React)))),
    throws: ['onAllReady'],
  },
  'a stylesheet within a boundary of the shell': {
    page: ({ createElement, ...React }) => {
      const sheet = createElement('link', { rel: 'stylesheet', href: '/s.css', precedence: 'p' });
      return createElement('main', null, within({ createElement, ...React }, 'soon', sheet, 'content'));
    },
  },
  'an element of a view transition, by its symbol': {
    page: ({ createElement }) =>
      createElement('main', null, createElement(Symbol.for('react.view_transition') as never, null, 'shown')),
  },
  'what asks for the browser is used': {
    page: (React) => {
      const asks = { $$typeof: Symbol.for('react.recoverable'), _reason: 'asked' };
      const Page = (): ReactNode => ('use' in React ? React.use(asks as never) : null);
      return React.createElement('main', null, within(React, 'soon', React.createElement(Page)));
    },
  },
  'a first component that overflows once': {
    page: ({ createElement }) => {
      let isFirst = true;
      const Overflows = (): ReactNode => {
        if (!isFirst) return 'shown';
        isFirst = false;
        throw new RangeError('Maximum call stack size exceeded');
      };
      const Around = (): ReactNode => createElement(Overflows);
      return createElement(Around);
    },
  },
  'a thrown promise after one that was used': {
    page: (React) => {
      const used = Promise.resolve('used');
      let thrown: Promise<void> | null = null;
      const Throws = (): ReactNode => {
        const value = awaited(React, used);
        if (thrown === null) {
          thrown = Promise.resolve();
          throw thrown;
        }
        return value;
      };
      return React.createElement('main', null, within(React, 'soon', React.createElement(Throws)));
    },
  },
};

const turns_max = 12;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** What was called and what was written, turn by turn. */
async function observe(renderer: Renderer, React: React, of: Case): Promise<readonly string[]> {
  const log: string[] = [];
  const called = (name: string, about = ''): void => {
    log.push(`${name} ${about}`);
    if (of.throws?.includes(name)) throw new Error(`${name} fails`);
  };
  const destination = new Writable({
    write(chunk, _encoding, done) {
      // How the bytes of a turn are cut into chunks is each renderer's own.
      if (log.at(-1)?.startsWith('writes ') === true) log[log.length - 1] += String(chunk);
      else log.push(`writes ${String(chunk)}`);
      done();
    },
  });
  if (of.isFull === true) {
    const write = destination.write.bind(destination) as (chunk: unknown) => boolean;
    let drains = false;
    destination.write = (chunk: unknown): boolean => {
      write(chunk);
      if (!drains) {
        drains = true;
        setImmediate(() => {
          drains = false;
          destination.emit('drain');
        });
      }
      return false;
    };
  }
  destination.on('finish', () => log.push('finishes'));
  destination.on('error', (error) => log.push(`destination fails: ${error.message}`));
  let stream: PipeableStream | null = null;
  const abort: Abort = (reason) => stream?.abort(reason);
  const begun = renderer.renderToPipeableStream(of.page(React, abort), {
    ...of.options,
    onShellReady() {
      called('onShellReady');
      if (of.pipesAtOnce !== true) begun.pipe(destination);
    },
    onAllReady: () => called('onAllReady'),
    onShellError: (error) => called('onShellError', String(error)),
    // React 18 gives none.
    onError: (error, info?: { componentStack?: string }) => {
      called('onError', `${String(error)}${info?.componentStack ?? ''}`);
      return 'digest' in of ? (of.digest as string) : 'digest';
    },
  });
  stream = begun;
  if (of.pipesAtOnce === true) begun.pipe(destination);
  for (const step of of.steps ?? []) {
    step(abort);
    log.push('stepped');
    await turn();
  }
  for (let at = 0; at < turns_max; at += 1) {
    await turn();
    log.push('turn');
  }
  return log;
}

/** As in `compare.ts`: all may be ready twice, and 18.3 goes on flushing to a destination that has failed, and tells of that each time. */
function saidOnce(log: readonly string[], minor: string): readonly string[] {
  const ready = log.indexOf('onAllReady ');
  const over = log.findIndex((line) => line.startsWith('destination fails'));
  return log.filter((line, at) => {
    if (line === 'onAllReady ') return at === ready;
    return minor !== '18.3' || over < 0 || at < over || !line.startsWith('onError ');
  });
}

/** Tests, for the React in `folder`. */
export function behavesAlike(minor: string, folder: string): void {
  const { React, stock } = loadReact(folder);
  const sluice = loadSluice(folder).then(async (renderer) => {
    // Once in the life of a process the client's scripts are learnt, which takes a few microtasks, or turns.
    await observe(renderer as never, React, { page: () => null });
    return renderer;
  });

  for (const [name, each] of Object.entries(cases)) {
    void test(`${name}: as react-dom ${minor}`, async () => {
      const renderer = await sluice;
      const left: string[] = [];
      const stop = renderer.onFallback(({ reason }) => left.push(reason));
      const expected = await observe(stock as never, React, each);
      assert.deepEqual(await observe(renderer as never, React, each), saidOnce(expected, minor));
      stop();
      assert.deepEqual(left, []);
    });
  }
}
