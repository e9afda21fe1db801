/** Compiles one file for `@sluice/screens`. JSX that stays, and types, are for the tools that come next. */
import { transformAsync } from '@babel/core';
import type { Compiled, SourceMap } from '../compile.js';
import sluiceScreens, { type ScreensOptions } from './babel.js';

export interface CompileScreensOptions extends ScreensOptions {
  /** Source map of an earlier step, which the new map is to include. */
  readonly inputSourceMap?: SourceMap;
}

/** `path` is absolute. Undefined where nothing was compiled. Throws Babel's syntax errors. */
export async function compileScreens(
  source: string,
  path: string,
  { inputSourceMap, ...options }: CompileScreensOptions = {},
): Promise<Compiled | undefined> {
  if (!/<[\w>]/.test(source)) return undefined;
  const result = await transformAsync(source, {
    filename: path,
    babelrc: false,
    configFile: false,
    compact: false,
    sourceMaps: true,
    // Others are chained by the bundler; one named in a comment is not to be looked for.
    inputSourceMap: (inputSourceMap ?? false) as SourceMap,
    parserOpts: {
      plugins: [
        'jsx',
        ...(/\.[cm]?tsx?$/.test(path) ? (['typescript'] as const) : []),
        'decorators-legacy',
        'decoratorAutoAccessors',
        'explicitResourceManagement',
      ],
    },
    plugins: [[sluiceScreens, options]],
  });
  return typeof result?.code === 'string' ? { code: result.code, map: result.map ?? null } : undefined;
}
