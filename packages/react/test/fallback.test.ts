/** What this renderer does not do is react-dom's, and is said. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { piped } from './support/piped.js';
import { React, sluice, stock } from './support/renderers.js';

const { createElement: h } = React;
const list = (): React.ReactNode =>
  h('main', null, h(Symbol.for('react.suspense_list') as never, null, h('p', null, 'listed')));

void test('an unsupported type is rendered by react-dom, counted and named', () => {
  const told: unknown[] = [];
  const stop = sluice.onFallback((fallback) => told.push(fallback));
  const before = sluice.statistics();
  assert.equal(sluice.renderToString(list()), stock.renderToString(list()));
  stop();
  sluice.renderToStaticMarkup(list());
  assert.deepEqual(told, [{ reason: 'SuspenseList', api: 'renderToString' }]);
  const after = sluice.statistics();
  assert.equal(after.fallbacks - before.fallbacks, 2);
  assert.equal(after.renders - before.renders, 2);
  assert.equal(after.reasons['SuspenseList'], 2);
});

void test('so is a stream, whose callbacks are called once', async () => {
  const calls: string[] = [];
  const html = await new Promise<string>((resolve) => {
    let text = '';
    const destination = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
      final(done) {
        done();
        resolve(text);
      },
    });
    const { pipe } = sluice.renderToPipeableStream(list(), {
      onShellReady: () => calls.push('shell'),
      onAllReady: () => calls.push('all'),
      onHeaders: () => calls.push('headers'),
    });
    pipe(destination);
  });
  assert.equal(html, stock.renderToString(list()));
  assert.deepEqual(calls.toSorted(), ['all', 'headers', 'shell']);
});

const Fails = (): never => {
  throw new Error('no');
};
const { Suspense } = React;
const below: Record<string, () => React.ReactNode> = {
  'below a boundary': () => h(Suspense, { fallback: 'f' }, list()),
  'in a fallback': () => h(Suspense, { fallback: list() }, h(Fails)),
  'behind an error that the app was told': () =>
    h('div', null, h(Suspense, { fallback: 'f' }, h(Fails)), h(Suspense, { fallback: 'g' }, list())),
};

for (const [where, page] of Object.entries(below))
  void test(`a list ${where} is react-dom's in every API, and errors are told once`, async () => {
    const stockStatic = await import('react-dom/static');
    const errors: string[] = [];
    const options = {
      onError(error: unknown): string {
        errors.push((error as Error).message);
        return 'digest';
      },
    };
    type Both = Omit<typeof stock, 'default'> & Omit<typeof stockStatic, 'default'>;
    const ways: Record<string, (server: Both) => string | Promise<string>> = {
      string: (server) => server.renderToString(page()),
      markup: (server) => server.renderToStaticMarkup(page()),
      pipeable: (server) => piped(server, page(), options),
      readable: async (server) => new Response(await server.renderToReadableStream(page(), options)).text(),
      prerender: async (server) => new Response((await server.prerender(page(), options)).prelude).text(),
      node: async (server) => text((await server.prerenderToNodeStream(page(), options)).prelude),
    };
    for (const [api, render] of Object.entries(ways)) {
      const expected = await render({ ...stock, ...stockStatic });
      const expectedErrors = errors.splice(0);
      assert.equal(await render(sluice as never), expected, api);
      assert.deepEqual(errors.splice(0), expectedErrors, api);
    }
  });

const require = createRequire(import.meta.url);

void test('a list that comes when a part of its page was sent leaves later streams to react-dom', () => {
  const output = run(
    'production',
    `const { Suspense, use } = React;
    const stock = reactDOM;
    const { text } = await import('node:stream/consumers');
    const { PassThrough } = await import('node:stream');
    const Waits = ({ until, children }) => (use(until), children);
    const page = () => {
      const until = new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
      const list = h(Symbol.for('react.suspense_list'), null, h('p', null, 'listed'));
      return h(Suspense, { fallback: 'f' }, h(Waits, { until }, list));
    };
    const streamed = (server) => new Promise((resolve) => {
      const { pipe } = server.renderToPipeableStream(page(), {
        onShellReady: () => resolve(text(pipe(new PassThrough()))),
        onError: () => undefined,
      });
    });
    const [expected, first, second] = [await streamed(stock), await streamed(sluice), await streamed(sluice)];
    console.log(JSON.stringify([first === expected, second === expected]));`,
  );
  assert.deepEqual(output.trim().split('\n'), ['[false,true]', '{"SuspenseList":1}']);
});

/** Runs a script in a process of its own, in a folder that has the built renderer and a copy of React. `before`: the renderer is loaded. */
function run(environment: string, script: string, before = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-react-'));
  try {
    for (const name of ['react', 'react-dom', 'scheduler']) {
      cpSync(dirname(require.resolve(`${name}/package.json`)), join(folder, 'node_modules', name), {
        recursive: true,
      });
    }
    const own = join(folder, 'node_modules/@sluice/react');
    cpSync(new URL('../dist', import.meta.url).pathname, join(own, 'dist'), { recursive: true });
    cpSync(new URL('../package.json', import.meta.url).pathname, join(own, 'package.json'));
    writeFileSync(
      join(folder, 'script.mjs'),
      `
      import React, { createElement as h } from 'react';
      import ReactDOM from 'react-dom';
      import * as reactDOM from 'react-dom/server';
      const dom = ReactDOM.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
      const slots = React.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
      ${before}
      const sluice = await import('@sluice/react/server');
      ${script}
      console.log(JSON.stringify(sluice.statistics().reasons));`,
    );
    const output = { cwd: folder, env: { ...process.env, NODE_ENV: environment }, encoding: 'utf8' } as const;
    return execFileSync(process.execPath, ['--no-warnings', '-e', `import('./script.mjs')`, '2>&1'], {
      ...output,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

void test('a development build is react-dom, with its warnings', () => {
  const script = `
    const errors = [];
    console.error = (message) => errors.push(String(message));
    sluice.renderToString(h('ul', null, [h('li'), h('li')]));
    console.log(errors.some((message) => message.includes('unique "key"')));`;
  assert.equal(run('development', script), 'true\n{"development build":1}\n');
});

/** React's own version, with one thing inside of it altered: what a patch may do as well as a new minor. */
const altered: Record<string, { readonly before: string; readonly asks: string }> = {
  'a tenth resource function': {
    before: 'dom.d.Z = (href) => href.toUpperCase();',
    asks: "dom.d.Z('tenth')",
  },
  'a resource function less': {
    before: 'delete dom.d.X; dom.d.r = () => "TENTH";',
    asks: 'dom.d.r()',
  },
  'another hook': {
    before: `const Alters = () => ((slots.H.useTenth = () => 'TENTH'), null);
      reactDOM.renderToString(h(Alters));
      reactDOM.renderToPipeableStream(h(Alters));
      await new Promise(setImmediate);`,
    asks: 'slots.H.useTenth()',
  },
  'another function in the other slot': {
    before: `const Alters = () => ((slots.A.tenth = () => 'TENTH'), null);
      reactDOM.renderToString(h(Alters));
      reactDOM.renderToPipeableStream(h(Alters));
      await new Promise(setImmediate);`,
    asks: 'slots.A.tenth()',
  },
};

for (const [what, { before, asks }] of Object.entries(altered)) {
  void test(`a React with ${what} is not touched: react-dom renders, with one warning`, () => {
    const script = `
      let warnings = 0;
      console.warn = () => { warnings += 1; };
      const Asks = () => h('p', null, ${asks});
      const streamed = new Promise((resolve) => {
        let html = '';
        const to = { on: () => to, write: (chunk) => (html += Buffer.from(chunk)), end: () => resolve(html) };
        sluice.renderToPipeableStream(h(Asks)).pipe(to);
      });
      console.log(sluice.renderToString(h(Asks)), await streamed, warnings);
      console.log(dom.d === functions, String(slots.H));`;
    const output = run('production', script, `${before} const functions = dom.d;`);
    assert.deepEqual(output.trim().split('\n'), [
      '<p>TENTH</p> <p>TENTH</p> 1',
      'true null',
      '{"unknown React version":2}',
    ]);
  });
}

void test('a React that is known is not touched by loading the renderer either', () => {
  const script = `
    console.log(dom.d === functions);
    sluice.renderToString(h('p'));
    console.log(dom.d === functions);`;
  assert.equal(run('production', script, 'const functions = dom.d;'), 'true\nfalse\n{}\n');
});

void test('a page that was prerendered in part is resumed by react-dom, and that is counted', () => {
  const script = `
    const { prerender } = await import('react-dom/static');
    const Waits = ({ until }) => React.use(until);
    let came;
    const until = new Promise((resolve) => (came = resolve));
    const page = h(React.Suspense, { fallback: 'f' }, h(Waits, { until }));
    const control = new AbortController();
    const begun = sluice.prerender(page, { signal: control.signal, onError: () => undefined });
    setTimeout(() => control.abort(), 5);
    const { postponed } = await begun;
    came('late');
    const state = JSON.stringify(postponed);
    const html = async (stream) => new Response(await stream).text();
    console.log((await html(sluice.resume(page, JSON.parse(state)))) === (await html(reactDOM.resume(page, JSON.parse(state)))));
    const { prelude } = await sluice.resumeAndPrerender(page, JSON.parse(state));
    console.log((await html(prelude)).includes('late'));`;
  const reasons = '{"prerender with a signal":1,"resume":2}';
  assert.deepEqual(run('production', script).trim().split('\n'), ['true', 'true', reasons]);
});
