/** Compiles one file, leaving JSX and types in it for the tools that come next. */
import { type PluginItem, transformAsync, type TransformOptions } from '@babel/core';
import sluiceTemplates, { type BabelOptions } from './babel.js';

export type SourceMap = NonNullable<TransformOptions['inputSourceMap']>;

export interface Compiled {
  readonly code: string;
  readonly map: SourceMap | null;
}

export interface CompileOptions extends BabelOptions {
  /** Source map of an earlier step, which the new map is to include. */
  readonly inputSourceMap?: SourceMap;
}

/** `path` is absolute. Undefined where nothing was compiled. Throws Babel's syntax errors. */
export async function compile(
  source: string,
  path: string,
  { inputSourceMap, ...options }: CompileOptions = {},
): Promise<Compiled | undefined> {
  if (!/<[a-z]/.test(source)) return undefined;
  const result = await transformed(source, path, [sluiceTemplates, options], inputSourceMap);
  // The name that the plugin gives what it imports stands in every file that it changed.
  return result?.code.includes('@sluice/react/template') === true ? result : undefined;
}

/** Runs one plugin over a file, and leaves JSX and types in it. Undefined where Babel gives no code. */
export async function transformed(
  source: string,
  path: string,
  plugin: PluginItem,
  inputSourceMap: SourceMap | undefined,
): Promise<Compiled | undefined> {
  const isTypeScript = /\.[cm]?tsx?$/.test(path);
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
        // In plain TypeScript, `<T>x` is a cast.
        ...(/\.[cm]?ts$/.test(path) ? [] : ['jsx' as const]),
        ...(isTypeScript ? ['typescript' as const] : []),
        'decorators-legacy',
        'decoratorAutoAccessors',
        'explicitResourceManagement',
      ],
    },
    plugins: [plugin],
  });
  return typeof result?.code === 'string' ? { code: result.code, map: result.map ?? null } : undefined;
}
