/** Compiles the loops of one file. JSX and types stay for the tools that come next. */
import { type Compiled, type SourceMap, transformed } from '../compile.js';
import sluiceLoops, { type LoopsOptions } from './babel.js';

export interface CompileLoopsOptions extends LoopsOptions {
  /** Source map of an earlier step, which the new map is to include. */
  readonly inputSourceMap?: SourceMap;
}

/** `path` is absolute. Undefined where no loop was changed. Throws Babel's syntax errors. */
export async function compileLoops(
  source: string,
  path: string,
  { inputSourceMap, report, ...options }: CompileLoopsOptions = {},
): Promise<Compiled | undefined> {
  if (!/\b(?:for|while)\b/.test(source)) return undefined;
  let isChanged = false;
  const own: LoopsOptions = {
    ...options,
    report(file) {
      isChanged = file.loops.some(({ done }) => done);
      report?.(file);
    },
  };
  const compiled = await transformed(source, path, [sluiceLoops, own], inputSourceMap);
  return isChanged ? compiled : undefined;
}
