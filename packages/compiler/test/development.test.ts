/** Compiled JSX in a development build of React: the warnings are those of the JSX itself. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import type * as React from 'react';
import type * as Server from 'react-dom/server';
import { compile } from '../src/compile.js';

const folder = join(import.meta.dirname, '..');
const require = createRequire(join(folder, 'package.json'));
const react = require('react') as typeof React;
const server = require('react-dom/server') as typeof Server;

const SOURCE = `
  const Box = ({ children }) => <b>{children}</b>;
  export const fine = ({ x }) => <div><Box>text {x}<i>{x}</i></Box></div>;
  export const keyless = ({ list }) => <div><Box>{list.map((one) => <i>{one}</i>)}</Box></div>;`;

void test('children that are arguments need no keys, those of an array do', async (context) => {
  assert.notEqual(process.env['NODE_ENV'], 'production');
  const compiled = await compile(SOURCE, join(folder, 'app.jsx'));
  assert.match(compiled?.code ?? '', /\[3, /);
  const { code } = transformSync(compiled?.code ?? '', {
    loader: 'tsx',
    jsx: 'automatic',
    jsxDev: true,
    format: 'cjs',
  });
  const module: { exports: Record<string, React.ComponentType<object>> } = { exports: {} };
  // oxlint-disable-next-line typescript/no-implied-eval -- The source is what the test has just compiled.
  new Function('require', 'module', 'exports', code)(require, module, module.exports);
  const error = context.mock.method(console, 'error', () => undefined);
  const html = (name: string, props: object): string =>
    server.renderToString(react.createElement(module.exports[name] as React.ComponentType<object>, props));
  assert.equal(html('fine', { x: 'a' }), '<div><b>text <!-- -->a<i>a</i></b></div>');
  assert.equal(error.mock.callCount(), 0);
  assert.equal(html('keyless', { list: [1, 2] }), '<div><b><i>1</i><i>2</i></b></div>');
  assert.match(String(error.mock.calls[0]?.arguments[0]), /unique "key" prop/);
});
