/** Compiles one file for `@sluice/screens`. JSX that stays, and types, are for the tools that come next. */
import { type Compiled, type SourceMap, transformed } from '../compile.js';
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
  return transformed(source, path, [sluiceScreens, options], inputSourceMap);
}
