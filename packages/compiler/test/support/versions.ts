/** The versions of React that tests compile for: this package's own, and those installed for `@sluice/react`. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import type * as React from 'react';
import type * as Server from 'react-dom/server';
import { compile } from '../../src/compile.js';

// React's packages choose their build when they load, which is below.
process.env['NODE_ENV'] = 'production';

export type Module = Readonly<Record<string, unknown>>;

type Renderer = typeof Server & { statistics(): { readonly fallbacks: number } };

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const TEMPLATE = readFileSync(`${PACKAGES}react/src/facts/template.ts`, 'utf8');

export class Version {
  readonly react: typeof React;
  /** What `evaluate` makes of JSX. Unlike `createElement`, it fills in no defaults in 19. */
  readonly jsx: (type: unknown, props: object) => React.ReactElement;
  readonly server: typeof Server;
  /** Sluice's renderer with this version of React; undefined where its copy is not installed. */
  readonly sluice: Renderer | undefined;
  readonly #directory: string;
  readonly #require: NodeJS.Require;
  readonly #template: Module;

  constructor(directory: string) {
    this.#directory = directory;
    this.#require = createRequire(`${directory}/noop.js`);
    this.react = this.#require('react') as typeof React;
    this.jsx = (this.#require('react/jsx-runtime') as { jsx: Version['jsx'] }).jsx;
    this.server = this.#require('react-dom/server') as typeof Server;
    const renderer = this.#require.resolve('@sluice/react/server');
    const isOfThisVersion = this.#require.resolve('react') === createRequire(renderer).resolve('react');
    this.sluice = isOfThisVersion ? (this.#require(renderer) as Renderer) : undefined;
    // A copy that imports this version's react.
    this.#template = this.evaluate(TEMPLATE);
  }

  get name(): string {
    return this.react.version;
  }

  /** Runs a module, compiled to templates or plain, as the app's own build would. */
  evaluate(source: string): Module {
    const { code } = transformSync(source, { loader: 'tsx', jsx: 'automatic', format: 'cjs' });
    const module: { exports: Module } = { exports: {} };
    const resolve = (name: string): unknown =>
      name === '@sluice/react/template' ? this.#template : this.#require(name);
    // oxlint-disable-next-line typescript/no-implied-eval -- The source is what the test has just compiled.
    new Function('require', 'module', 'exports', code)(resolve, module, module.exports);
    return module.exports;
  }

  /** The source as it was, if nothing in it is compiled. */
  async compile(source: string): Promise<string> {
    const compiled = await compile(source, `${this.#directory}/app.tsx`);
    return compiled?.code ?? source;
  }
}

export const own = new Version(`${PACKAGES}compiler`);

const versionsDirectory = `${PACKAGES}react/test/versions`;
const others = existsSync(versionsDirectory)
  ? readdirSync(versionsDirectory)
      .filter((name) => existsSync(`${versionsDirectory}/${name}/node_modules/react-dom`))
      .map((name) => new Version(`${versionsDirectory}/${name}`))
  : [];

export const versions: readonly Version[] = [own, ...others.filter(({ name }) => name !== own.name)];
