/** Streams: the same bytes at the same turns as react-dom, with the same calls of the app's callbacks. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import { React, sluice, stock } from './support/renderers.js';

const { createElement: h, Suspense } = React;
type Renderer = Pick<typeof stock, 'renderToPipeableStream' | 'renderToReadableStream'>;

/** Promises by name, settled by the test, and a component that shows one. */
class Turns {
  readonly #promises = new Map<string, { promise: Promise<string>; settle: (error?: Error) => void }>();

  of(name: string): { promise: Promise<string>; settle: (error?: Error) => void } {
    const known = this.#promises.get(name);
    if (known !== undefined) return known;
    let settle: (error?: Error) => void = () => undefined;
    const promise = new Promise<string>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve(`<${name}>`) : reject(error));
    });
    promise.catch(() => undefined);
    const turn = { promise, settle };
    this.#promises.set(name, turn);
    return turn;
  }

  readonly Shows = ({ name, children }: { name: string; children?: ReactNode }): ReactNode =>
    h('i', { id: React.useId() }, React.use(this.of(name).promise), children);
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Scenario {
  page: (turns: Turns) => ReactNode;
  options?: object;
  /** Names to settle, one after the other; `!name` rejects, `abort` gives up. */
  steps: readonly string[];
}

/** What came at each step, and what was called. */
async function observe(renderer: Renderer, { page, options, steps }: Scenario): Promise<string[]> {
  const turns = new Turns();
  const log: string[] = [];
  let html = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      html += String(chunk);
      done();
    },
  });
  destination.on('finish', () => log.push('finish'));
  destination.on('error', (error) => log.push(`destination: ${error.message}`));
  const { pipe, abort } = renderer.renderToPipeableStream(page(turns), {
    ...options,
    onShellReady: () => {
      log.push('shell');
      pipe(destination);
    },
    onAllReady: () => log.push('all'),
    onShellError: (error) => log.push(`shell error: ${String(error)}`),
    onError: (error, info) => {
      log.push(`error: ${String(error)} in ${String(info.componentStack).replaceAll(/\(.*?\)/g, '')}`);
      return 'a "digest"';
    },
    onHeaders: (headers) => log.push(JSON.stringify(headers)),
  });
  for (const step of ['', ...steps]) {
    if (step === 'abort') abort(new Error('given up'));
    else if (step.startsWith('!')) turns.of(step.slice(1)).settle(new Error('rejected'));
    else if (step !== '') turns.of(step).settle();
    for (let passed = 0; passed < 4; passed += 1) await turn();
    log.push(`${step}: ${html}`);
    html = '';
  }
  return log;
}

function same(name: string, scenario: Scenario): void {
  void test(`${name} as in react-dom`, async () => {
    assert.deepEqual(await observe(sluice, scenario), await observe(stock, scenario));
    assert.deepEqual(sluice.statistics().reasons, {});
  });
}

const waiting = (turns: Turns, name: string, fallback: ReactNode = `wait ${name}`): ReactNode =>
  h(Suspense, { fallback }, h('p', null, 'text', h(turns.Shows, { name }), 'text'));

same('content that is ready goes with the shell', {
  page: () => h('main', null, h(Suspense, { fallback: 'wait' }, 'ready')),
  steps: [],
});
same('content comes in the order in which it is ready', {
  page: (turns) => h('main', null, waiting(turns, 'a'), waiting(turns, 'b'), waiting(turns, 'c')),
  steps: ['b', 'c', 'a'],
});
same('inner content may be ready before outer content', {
  page: (turns) =>
    h(Suspense, { fallback: 'outer' }, h('p', null, h(turns.Shows, { name: 'a' }), waiting(turns, 'b'))),
  steps: ['b', 'a'],
});
same('parts of content are sent as they come', {
  page: (turns) =>
    h(
      'main',
      null,
      h(
        Suspense,
        { fallback: 'wait' },
        h(
          'p',
          null,
          ['a', 'b', 'c'].map((name) => h(turns.Shows, { name, key: name })),
        ),
      ),
    ),
  steps: ['b', 'a', 'c'],
});
same('long content that is ready is sent behind the shell', {
  page: () =>
    h(
      'main',
      null,
      ['1', '2'].map((key) => h(Suspense, { key, fallback: 'wait' }, h('p', null, 'x'.repeat(700)))),
    ),
  options: { progressiveChunkSize: 1 },
  steps: [],
});
same('a rejection is left to the client, with a digest', {
  page: (turns) => h('main', null, waiting(turns, 'a'), waiting(turns, 'b')),
  steps: ['!a', 'b'],
});
same('a shell that fails is an error of the shell', {
  page: (turns) => h('main', null, h(turns.Shows, { name: 'a' })),
  steps: ['!a'],
});
same('an abort leaves what waits to the client', {
  page: (turns) => h('main', null, waiting(turns, 'a'), waiting(turns, 'b', h(turns.Shows, { name: 'c' }))),
  steps: ['a', 'abort'],
});
same('an abort before the shell fails it', {
  page: (turns) => h('main', null, h(turns.Shows, { name: 'a' })),
  steps: ['abort'],
});
same('late stylesheets are loaded before their content is shown', {
  page: (turns) =>
    h(
      'html',
      null,
      h('head'),
      h(
        'body',
        null,
        h(
          Suspense,
          { fallback: 'wait' },
          h(
            turns.Shows,
            { name: 'a' },
            h('link', { rel: 'stylesheet', href: '/a.css', precedence: 'p', media: 'print' }),
          ),
          h(turns.Shows, { name: 'b' }, h('style', { href: 'k', precedence: 'q' }, 'b{}')),
        ),
      ),
    ),
  steps: ['a', 'b'],
});
same('late rows, cells and shapes travel in wrappers of their kind', {
  page: (turns) => [
    h(
      'table',
      { key: 1 },
      h(
        'tbody',
        null,
        h(Suspense, { fallback: h('tr') }, h('tr', null, h('td', null, h(turns.Shows, { name: 'a' })))),
        h('tr', null, h(Suspense, { fallback: h('td') }, h('td', null, h(turns.Shows, { name: 'b' })))),
      ),
    ),
    h('svg', { key: 2 }, h(Suspense, { fallback: h('g') }, h('path'), h(turns.Shows, { name: 'c' }))),
  ],
  steps: ['a', 'b', 'c'],
});
same('scripts, nonce, prefix and import map are written', {
  page: (turns) => h('main', null, waiting(turns, 'a')),
  options: {
    nonce: 'n"',
    identifierPrefix: 'p-',
    bootstrapScriptContent: 'a</script>',
    bootstrapScripts: ['/a.js', { src: '/b.js', integrity: 'i', crossOrigin: 'use-credentials' }],
    bootstrapModules: ['/m.js'],
    importMap: { imports: { a: '/a.js' } },
  },
  steps: ['a'],
});
same('a view transition is announced to the client', {
  page: (turns) =>
    h(
      React.ViewTransition,
      { name: 'x', enter: 'e' },
      h(
        'div',
        null,
        h(
          Suspense,
          { fallback: 'wait' },
          h(React.ViewTransition, null, h('p', null, h(turns.Shows, { name: 'a' }))),
        ),
      ),
    ),
  steps: ['a'],
});

void test('back-pressure stops the flush between boundaries, and a drain goes on', async () => {
  const written: string[] = [];
  const stopping = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      release = done;
    },
  });
  let release: () => void = () => undefined;
  const long = 'x'.repeat(5000);
  const page = h(
    'main',
    null,
    ['1', '2', '3'].map((key) => h(Suspense, { key, fallback: key }, h('p', null, long))),
  );
  await new Promise<void>((resolve) => {
    const { pipe } = sluice.renderToPipeableStream(page, { progressiveChunkSize: 1, onAllReady: resolve });
    pipe(stopping);
  });
  await turn();
  const contents = (): number => written.join('').split('<p>').length - 1;
  assert.ok(contents() < 3, 'all was written to a reader that had enough');
  for (let drained = 0; contents() < 3 && drained < 50; drained += 1) {
    release();
    await turn();
  }
  assert.equal(contents(), 3);
});

void test('a web stream has the same bytes, and allReady', async () => {
  const read = async (renderer: Renderer): Promise<string> => {
    const turns = new Turns();
    const stream = await renderer.renderToReadableStream(h('main', null, waiting(turns, 'a')));
    turns.of('a').settle();
    await stream.allReady;
    return new Response(stream).text();
  };
  assert.equal(await read(sluice), await read(stock));
});

void test('a web stream of a shell that fails is rejected', async () => {
  const Fails = (): never => {
    throw new Error('no shell');
  };
  await assert.rejects(sluice.renderToReadableStream(h(Fails), { onError: () => undefined }), /no shell/);
});

void test('what was handed to a reader does not change afterwards', async () => {
  const chunks: { given: Buffer; copy: Buffer }[] = [];
  const render = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const keeping = new Writable({
        write(given: Buffer, _encoding, done) {
          chunks.push({ given, copy: Buffer.from(given) });
          done();
        },
        final(done) {
          done();
          resolve();
        },
      });
      const { pipe } = sluice.renderToPipeableStream(
        h(
          'p',
          null,
          [text, text].map((t, key) => h('b', { key }, t)),
        ),
      );
      pipe(keeping);
    });
  await Promise.all(['ä'.repeat(9000), 'b'.repeat(100), 'c'.repeat(30_000)].map(render));
  await render('d'.repeat(70_000));
  for (const { given, copy } of chunks) assert.ok(given.equals(copy));
});
