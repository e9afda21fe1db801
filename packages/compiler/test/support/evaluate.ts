/** Runs source with JSX, compiled to templates or plain, with this package's react. */
import './production.js';
import { createRequire } from 'node:module';
import { transformSync } from 'esbuild';
import { compile } from '../../src/compile.js';
import * as template from '@sluice/react/template';

const require = createRequire(import.meta.url);
const FILE = new URL('../generated.tsx', import.meta.url).pathname;

export type Module = Readonly<Record<string, unknown>>;

/** What the app's own build does behind the compiler. */
export function evaluate(source: string): Module {
  const { code } = transformSync(source, { loader: 'tsx', jsx: 'automatic', format: 'cjs' });
  const module: { exports: Module } = { exports: {} };
  const resolve = (name: string): unknown => (name === '@sluice/react/template' ? template : require(name));
  // oxlint-disable-next-line typescript/no-implied-eval -- The source is what the test has just compiled.
  new Function('require', 'module', 'exports', code)(resolve, module, module.exports);
  return module.exports;
}

export async function compiledSource(source: string, path = FILE): Promise<string> {
  const compiled = await compile(source, path);
  return compiled?.code ?? source;
}
