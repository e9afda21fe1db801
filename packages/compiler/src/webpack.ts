/**
 * The loader for webpack, and for whatever runs webpack's loaders, such as Next. It has to see JSX, so it stands behind
 * the loader that compiles JSX (loaders run from the last to the first), in the server's configuration only.
 */
import { type SourceMap, compile } from './compile.js';

export interface LoaderOptions {
  /** Path from which `react-dom` is looked up; by default the directory of each file, then the working directory. */
  readonly reactFrom?: string;
  /** Whether elements of components become holes of templates (true by default). False where a later step rewrites their JSX. */
  readonly components?: boolean;
}

/** The part of webpack's loader context in use here. */
interface LoaderContext {
  readonly resourcePath: string;
  /** Target of the compilation: `node` on the server. */
  readonly target?: string;
  readonly mode?: string;
  getOptions(): LoaderOptions;
  async(): (error: Error | null, code?: string, map?: object) => void;
  emitWarning(warning: Error): void;
}

/** webpack calls it with its context as `this`. */
export default function sluiceLoader(this: LoaderContext, source: string, map?: object | string): void {
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- That is how loaders are called.
  load(this, source, map);
}

function load(context: LoaderContext, source: string, map?: object | string): void {
  const done = context.async();
  const inputSourceMap =
    typeof map === 'string' ? (JSON.parse(map) as SourceMap) : (map as SourceMap | undefined);
  const unchanged = (): void => done(null, source, inputSourceMap);
  // A development build warns about elements, and names their places: it keeps its own.
  if (context.mode === 'development' || context.target?.startsWith('web') === true) return unchanged();
  compile(source, context.resourcePath, {
    ...context.getOptions(),
    warn: (message) => context.emitWarning(new Error(message)),
    ...(inputSourceMap === undefined ? {} : { inputSourceMap }),
  }).then(
    (compiled) =>
      compiled === undefined ? unchanged() : done(null, compiled.code, compiled.map ?? undefined),
    (error: unknown) => done(error as Error),
  );
}
