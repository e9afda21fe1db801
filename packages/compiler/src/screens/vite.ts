/** The plugin for Vite and Rollup, and the one for esbuild. Both write the report when the build has ended. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ScreensOptions } from './babel.js';
import { compileScreens } from './compile.js';
import { type FileReport, reportOf, stackLines, writeReport } from './report.js';

export interface ScreensPluginOptions extends Omit<ScreensOptions, 'report'> {
  /** Paths of files to compile; by default those that end in `.jsx` or `.tsx`, outside of `node_modules`. */
  readonly include?: RegExp;
  /** Path of the report, a JSON file; its text form has the same name with `.txt`. None by default. */
  readonly report?: string;
  /** Whether the five most expensive stacks of wrappers are printed when a build has ended. */
  readonly print?: boolean;
}

/** The part of Vite's and Rollup's plugin interface in use here, so that neither has to be installed. */
export interface ScreensPlugin {
  readonly name: string;
  readonly enforce: 'pre';
  readonly apply: 'build';
  transform(code: string, id: string): Promise<{ code: string; map: string | null } | undefined>;
  buildEnd(error?: Error): void;
}

const JSX_FILE = /\.[cm]?[jt]sx$/;

class Build {
  readonly #options: ScreensPluginOptions;
  /** Reports by path: a file that is built again replaces its report. */
  readonly #reports = new Map<string, FileReport>();

  constructor(options: ScreensPluginOptions) {
    this.#options = options;
  }

  includes(path: string): boolean {
    const { include } = this.#options;
    return include?.test(path) ?? (JSX_FILE.test(path) && !/[\\/]node_modules[\\/]/.test(path));
  }

  compile(code: string, path: string): ReturnType<typeof compileScreens> {
    const { include: _, report: __, print: ___, ...rest } = this.#options;
    return compileScreens(code, path, { ...rest, report: (report) => void this.#reports.set(path, report) });
  }

  end(): void {
    const { report: path, print = false } = this.#options;
    const report = reportOf([...this.#reports.values()]);
    if (path !== undefined) writeReport(resolve(path), report);
    if (print) for (const line of stackLines(report.stacks.slice(0, 5))) console.log(line);
  }
}

export default function sluiceScreens(options: ScreensPluginOptions = {}): ScreensPlugin {
  const build = new Build(options);
  return {
    name: 'sluice-screens',
    enforce: 'pre',
    apply: 'build',
    async transform(code, id) {
      const path = id.replace(/[?#].*$/, '');
      if (id.startsWith('\0') || !build.includes(path)) return undefined;
      const compiled = await build.compile(code, path);
      return compiled && { code: compiled.code, map: compiled.map && JSON.stringify(compiled.map) };
    },
    buildEnd(error) {
      if (error === undefined) build.end();
    },
  };
}

/** The part of esbuild's plugin interface in use here. */
export interface EsbuildPlugin {
  readonly name: string;
  setup(build: {
    onLoad(
      options: { filter: RegExp; namespace: string },
      load: (file: { path: string }) => Promise<{ contents: string; loader: 'jsx' | 'tsx' } | undefined>,
    ): void;
    onEnd(end: (result: { errors: readonly unknown[] }) => void): void;
  }): void;
}

export function esbuildScreens(options: ScreensPluginOptions = {}): EsbuildPlugin {
  const work = new Build(options);
  return {
    name: 'sluice-screens',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
        if (!work.includes(path)) return undefined;
        const compiled = await work.compile(await readFile(path, 'utf8'), path);
        if (compiled === undefined) return undefined;
        const loader = /\.[cm]?tsx?$/.test(path) ? 'tsx' : 'jsx';
        // esbuild takes a map from a comment only.
        const map = compiled.map && Buffer.from(JSON.stringify(compiled.map)).toString('base64');
        const comment = map ? `\n//# sourceMappingURL=data:application/json;base64,${map}` : '';
        return { contents: `${compiled.code}${comment}`, loader };
      });
      build.onEnd(({ errors }) => {
        if (errors.length === 0) work.end();
      });
    },
  };
}
