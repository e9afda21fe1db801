/** What this renderer does not do is react-dom's, and is said. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
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

const require = createRequire(import.meta.url);

/** Runs a script in a process of its own, in a folder that has the built renderer and a copy of React. */
function run(environment: string, script: string, changeVersion = false): string {
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
    if (changeVersion) {
      for (const file of [
        'react/cjs/react.production.js',
        'react-dom/cjs/react-dom.production.js',
        'react-dom/cjs/react-dom-server.node.production.js',
        'react-dom/cjs/react-dom-server-legacy.node.production.js',
      ]) {
        const path = join(folder, 'node_modules', file);
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`"${React.version}"`, '"99.0.0"'));
      }
    }
    writeFileSync(
      join(folder, 'script.mjs'),
      `
      import { createElement as h } from 'react';
      import * as sluice from '@sluice/react/server';
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

void test('an unknown version is react-dom, with one warning', () => {
  const script = `
    let warnings = 0;
    console.warn = () => { warnings += 1; };
    console.log(sluice.renderToString(h('p', null, 'a')), sluice.renderToString(h('p', null, 'b')), warnings);`;
  assert.equal(run('production', script, true), '<p>a</p> <p>b</p> 1\n{"unknown React version":2}\n');
});
