/** The plugin for Vite and Rollup, and the one for esbuild. Both write the report when the build has ended. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Compiled } from '../compile.js';
import { type BundleContext, ServerBundle } from '../server-bundle.js';
import type { LoopsOptions } from './babel.js';
import { compileLoops } from './compile.js';
import { type LoopFile, type LoopLine, loopText, loopsText, writeLoops } from './report.js';

export interface LoopsPluginOptions extends Omit<LoopsOptions, 'report'> {
  /** Paths of files to compile; by default JavaScript and TypeScript outside of `node_modules`. */
  readonly include?: RegExp;
  /** Path of the report, a JSON file; its text form has the same name with `.txt`. None by default. */
  readonly report?: string;
  /** Whether the text form is printed when a build has ended. */
  readonly print?: boolean;
}

/** The part of Vite's and Rollup's plugin interface in use here, so that neither has to be installed. */
export interface LoopsPlugin {
  readonly name: string;
  readonly enforce: 'pre';
  readonly apply: 'build';
  configResolved(config: { readonly build: { readonly ssr?: boolean | string } }): void;
  transform(
    this: PluginContext,
    code: string,
    id: string,
    options?: { readonly ssr?: boolean | undefined },
  ): Promise<{ code: string; map: string | null } | undefined>;
  buildEnd(error?: Error): void;
}

interface PluginContext extends BundleContext {
  readonly warn: (message: string) => void;
}

const FILE = /\.[cm]?[jt]sx?$/;

class Build {
  readonly #options: LoopsPluginOptions;
  /** Reports by path: a file that is built again replaces its report. */
  readonly #files = new Map<string, LoopFile>();

  constructor(options: LoopsPluginOptions) {
    this.#options = options;
  }

  includes(path: string): boolean {
    const { include } = this.#options;
    return include?.test(path) ?? (FILE.test(path) && !/[\\/]node_modules[\\/]/.test(path));
  }

  /** `warn` gets each loop that a comment asks for and that was left. */
  compile(code: string, path: string, warn: (loop: LoopLine) => void): Promise<Compiled | undefined> {
    const { include: _, report: __, print: ___, ...rest } = this.#options;
    const report = (file: LoopFile): void => {
      this.#files.set(path, file);
      for (const loop of file.loops) if (loop.isMarked && !loop.done) warn(loop);
    };
    return compileLoops(code, path, { ...rest, report });
  }

  end(): void {
    const { report: path, print = false } = this.#options;
    const files = [...this.#files.values()];
    if (path !== undefined) writeLoops(resolve(path), files);
    if (print) console.log(loopsText(files));
  }
}

/** The plugin for Vite and Rollup. Bundles of the browser and the development server stay as they are. */
export default function sluiceLoops(options: LoopsPluginOptions = {}): LoopsPlugin {
  const build = new Build(options);
  const server = new ServerBundle();
  return {
    name: 'sluice-loops',
    enforce: 'pre',
    apply: 'build',
    configResolved(config) {
      server.configure(config);
    },
    async transform(code, id, { ssr } = {}) {
      const path = id.replace(/[?#].*$/, '');
      if (!server.has(this, ssr) || id.startsWith('\0') || !build.includes(path)) return undefined;
      const compiled = await build.compile(code, path, (loop) => this.warn(`${path}:${loopText(loop)}`));
      return compiled && { code: compiled.code, map: compiled.map && JSON.stringify(compiled.map) };
    },
    buildEnd(error) {
      if (error === undefined) build.end();
    },
  };
}

type EsbuildLoader = 'js' | 'jsx' | 'ts' | 'tsx';

interface EsbuildWarning {
  readonly text: string;
  readonly location: { readonly file: string; readonly line: number; readonly column: number };
}

/** The part of esbuild's plugin interface in use here. */
export interface LoopsEsbuildPlugin {
  readonly name: string;
  setup(build: {
    onLoad(
      options: { filter: RegExp; namespace: string },
      load: (file: {
        path: string;
      }) => Promise<{ contents: string; loader: EsbuildLoader; warnings: EsbuildWarning[] } | undefined>,
    ): void;
    onEnd(end: (result: { errors: readonly unknown[] }) => void): void;
  }): void;
}

export function esbuildLoops(options: LoopsPluginOptions = {}): LoopsEsbuildPlugin {
  const work = new Build(options);
  return {
    name: 'sluice-loops',
    setup(build) {
      build.onLoad({ filter: FILE, namespace: 'file' }, async ({ path }) => {
        if (!work.includes(path)) return undefined;
        const warnings: EsbuildWarning[] = [];
        const source = await readFile(path, 'utf8');
        const compiled = await work.compile(source, path, (loop) => {
          const location = { file: path, line: loop.line, column: loop.column - 1 };
          warnings.push({ text: loopText(loop), location });
        });
        const loader = loaderOf(path);
        if (compiled === undefined) {
          return warnings.length === 0 ? undefined : { contents: source, loader, warnings };
        }
        // esbuild takes a map from a comment only.
        const map = compiled.map && Buffer.from(JSON.stringify(compiled.map)).toString('base64');
        const comment = map ? `\n//# sourceMappingURL=data:application/json;base64,${map}` : '';
        return { contents: `${compiled.code}${comment}`, loader, warnings };
      });
      build.onEnd(({ errors }) => {
        if (errors.length === 0) work.end();
      });
    },
  };
}

function loaderOf(path: string): EsbuildLoader {
  if (/\.[cm]?ts$/.test(path)) return 'ts';
  return path.endsWith('.tsx') ? 'tsx' : 'jsx';
}
