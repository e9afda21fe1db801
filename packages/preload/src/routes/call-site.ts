/** The line of code that calls: outside `node_modules` where some caller is, else the nearest one that is not Node's. */
import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

export interface CallSite {
  /** A path, or a `file:` URL in modules. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Maximum number of searched frames. Frameworks on top of a router have some dozens of their own. */
const FRAMES_MAX = 40;

/** Methods that are wrapped here stand between those of the router and the app. */
const preload = new URL('../', import.meta.url).href;
const own = [preload, fileURLToPath(preload)];

type Named = (...parts: never[]) => unknown;

/**
 * Returns the place where the code was written, if this process knows it: loaders that translate in memory, such as tsx, have Node
 * keep their source maps. Those in files are read by the command. Reads a map once, so it is only for what is reported.
 */
export function written(site: CallSite): CallSite {
  try {
    const entry = findSourceMap(site.file)?.findEntry(site.line - 1, site.column - 1);
    if (entry === undefined || !('originalSource' in entry)) return site;
    const { originalSource: file, originalLine, originalColumn } = entry;
    return { file, line: originalLine + 1, column: originalColumn + 1 };
  } catch {
    // A map that cannot be read.
    return site;
  }
}

/** The caller of `callee`; undefined where it is not known. */
export function callSite(callee: Named): CallSite | undefined {
  const { stackTraceLimit } = Error;
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  let sites: readonly NodeJS.CallSite[] = [];
  try {
    // As text it would be parsed again, and with source maps switched on Node would read them here.
    Error.stackTraceLimit = FRAMES_MAX;
    Error.prepareStackTrace = (_error, found) => {
      sites = found;
      return '';
    };
    const holder: { stack?: string } = {};
    Error.captureStackTrace(holder, callee);
    void holder.stack;
  } catch {
    // `Error` may be frozen; then there is no place.
  } finally {
    try {
      Error.stackTraceLimit = stackTraceLimit;
      if (prepare === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
      else Object.defineProperty(Error, 'prepareStackTrace', prepare);
    } catch {
      // Frozen, so nothing was changed either.
    }
  }
  return chosen(sites);
}

function chosen(sites: readonly NodeJS.CallSite[]): CallSite | undefined {
  let nearest: CallSite | undefined;
  for (const site of sites) {
    const [file, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
    if (typeof file !== 'string' || line === null || column === null || isNodes(file) || isOwn(file))
      continue;
    const place = { file, line, column };
    if (!/[\\/]node_modules[\\/]/.test(file)) return place;
    nearest ??= place;
  }
  return nearest;
}

function isNodes(file: string): boolean {
  return file.startsWith('node:') || !/^(?:\/|file:|[A-Za-z]:)/.test(file);
}

function isOwn(file: string): boolean {
  return own.some((folder) => file.startsWith(folder));
}
