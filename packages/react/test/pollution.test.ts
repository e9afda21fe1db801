/** A polluted `Object.prototype` changes what react-dom writes or nothing: no name is read there that react-dom does not read. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const stockStatic = await import('react-dom/static');
const { createElement: h, Suspense } = React;

const Theme = React.createContext('a');
const Context = (): ReactNode => h('em', null, React.useContext(Theme), React.useId());
const Asks = (): ReactNode => {
  ReactDOM.preload('/font', { as: 'font' });
  ReactDOM.preinit('/s.css', { as: 'style' });
  ReactDOM.preconnect('https://cdn.example');
  return null;
};
class Old extends React.Component {
  override state = { name: 'old' };
  override render(): ReactNode {
    return h('b', null, this.state.name);
  }
}
const page = (): ReactNode =>
  h(
    'main',
    { className: 'a', style: { color: 'red' } },
    h(Theme, { value: 'b' }, h(Context)),
    h(Suspense, { fallback: 'f' }, h(React.memo(Old)), h('img', { src: '/i', alt: '' })),
    h(
      'form',
      { action: '/x' },
      h('input', { name: 'n', defaultValue: 'v' }),
      h('select', { value: '1' }, h('option', null, 1)),
    ),
    h('link', { rel: 'stylesheet', href: '/p.css', precedence: 'high' }),
    h('script', { src: '/s.js', async: true }),
    h('title', null, 'title'),
    h(Asks),
    [h('i', { key: 1 }, 'text', 2)],
  );

function withPolluted<Result>(name: string, value: unknown, run: () => Result): Result {
  // oxlint-disable-next-line no-extend-native -- what is tested
  Object.defineProperty(Object.prototype, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  try {
    return run();
  } finally {
    delete (Object.prototype as Record<string, unknown>)[name];
  }
}

function outcome(run: () => string): string {
  try {
    return run();
  } catch (error) {
    // Which property of what is missing differs in its words.
    return `throws ${(error as Error).name}`;
  }
}

/** Every word of the renderer's source: whatever it reads, it reads by one of them. */
function words(): string[] {
  const folder = join(import.meta.dirname, '..', 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const source = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const all = new Set(source.join('\n').match(/[$A-Za-z_][$\w]*/g));
  // Descriptors are objects that `Object.defineProperty` reads them from; a string that can be called is none of ours.
  for (const name of ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', '__proto__'])
    all.delete(name);
  // V8 and Node read these themselves, and the objects of the language have them already.
  return [...all].filter((name) => !(name in Object.prototype));
}

/** The second is a list of scripts, and a template. */
const VALUES: readonly unknown[] = [
  'polluted',
  Object.assign(['/polluted.js'], { layout: 1, pieces: ['<script>polluted</script>'], holes: [] }),
];

void test('strings: every word of the source as a name, and two values', () => {
  // What is learned of attributes is learned before.
  for (let time = 0; time < 3; time += 1)
    assert.equal(sluice.renderToString(page()), stock.renderToString(page()));
  const different: string[] = [];
  for (const name of words())
    for (const value of VALUES) {
      const [expected, actual] = withPolluted(name, value, () => [
        outcome(() => stock.renderToString(page())),
        outcome(() => sluice.renderToString(page())),
      ]);
      if (actual !== expected) different.push(`${name}: ${JSON.stringify(value)}\n${expected}\n${actual}`);
    }
  assert.deepEqual(different, []);
});

const pollutions: Record<string, unknown> = {
  bootstrapScriptContent: 'polluted()',
  bootstrapScripts: ['/polluted.js'],
  bootstrapModules: ['/polluted.mjs'],
  nonce: 'polluted',
  identifierPrefix: 'polluted',
  importMap: { imports: { a: '/polluted.js' } },
  namespaceURI: 'http://www.w3.org/2000/svg',
  progressiveChunkSize: 1,
  maxHeadersLength: 1,
  formState: ['polluted'],
};

type Prerenders = typeof stockStatic;
type Begin = (server: typeof stock, prerenders: Prerenders, options?: object) => Promise<string>;

/** Options are read before any of these returns. */
const streams: Record<string, Begin> = {
  renderToPipeableStream: (server, _prerenders, options) =>
    text(server.renderToPipeableStream(page(), options).pipe(new PassThrough())),
  renderToReadableStream: async (server, _prerenders, options) =>
    new Response(await server.renderToReadableStream(page(), options)).text(),
  prerender: async (_server, prerenders, options) =>
    new Response((await prerenders.prerender(page(), options)).prelude).text(),
  prerenderToNodeStream: async (_server, prerenders, options) =>
    text((await prerenders.prerenderToNodeStream(page(), options)).prelude),
};

for (const [api, begin] of Object.entries(streams)) {
  const both = async (around: (run: () => Promise<string>) => Promise<string>, options?: () => object) => {
    const expected = await around(() => begin(stock, stockStatic, options?.()));
    const actual = await around(() => begin(sluice as never, sluice as never, options?.()));
    return { expected, actual };
  };

  void test(`${api}: options that are not given are not the prototype's, those of an object are`, async () => {
    const clean = (await both((run) => run())).expected;
    for (const [name, value] of Object.entries(pollutions)) {
      const around = (run: () => Promise<string>): Promise<string> => withPolluted(name, value, run);
      const none = await both(around);
      assert.equal(none.actual, none.expected, `no options, with ${name}`);
      assert.equal(none.actual, clean, `no options, with ${name}`);
      const empty = await both(around, () => ({}));
      assert.equal(empty.actual, empty.expected, `options that inherit, with ${name}`);
      const bare = await both(around, () => Object.create(null) as object);
      assert.equal(bare.actual, clean, `options that inherit nothing, with ${name}`);
    }
  });

  void test(`${api}: an options object may inherit its options`, async () => {
    const { expected, actual } = await both(
      (run) => run(),
      () => Object.create({ bootstrapScripts: ['/inherited.js'], identifierPrefix: 'i' }) as object,
    );
    assert.match(expected, /inherited.js/);
    assert.equal(actual, expected);
  });
}
