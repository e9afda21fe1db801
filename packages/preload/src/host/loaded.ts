/**
 * Tells the gateway which of the app's files this process has loaded, so that `sluice dev` starts it again when one changes.
 *
 * Node's loaders name each module to `process.send` where `WATCH_REPORT_DEPENDENCIES` is set, as they do for `node --watch`. Tools
 * such as tsx name theirs in the same way, and forked processes name them to their parent (`forks.ts`). The paths go into a file, so that they
 * are known even if the app throws in the next line. The control channel would lose them. A line has the time of the file's last change
 * in nanoseconds, its size and its path. So a change right after the load is seen as one.
 */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Takes what the loaders tell of modules; false for any other message. */
export type TakeLoaded = (message: unknown) => boolean;

export function reportLoaded(file: string): TakeLoaded {
  const known = new Set<string>();
  return (message) => {
    const paths = pathsOf(message);
    if (paths === undefined) return false;
    const fresh = paths.filter((path) => isOwn(path) && !known.has(path));
    for (const path of fresh) known.add(path);
    if (fresh.length > 0) append(file, fresh);
    return true;
  };
}

function pathsOf(message: unknown): string[] | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const said = message as { readonly 'watch:require'?: unknown; readonly 'watch:import'?: unknown };
  const names = said['watch:require'] ?? said['watch:import'];
  if (!Array.isArray(names)) return undefined;
  return names.flatMap((name) => toPath(String(name)));
}

/** Modules come as paths, as URLs, or with a query that a loader has added; built-in ones have no file. */
function toPath(name: string): string[] {
  if (name.startsWith('/')) return [name];
  if (!name.startsWith('file:')) return [];
  try {
    return [fileURLToPath(name)];
  } catch {
    return [];
  }
}

/** Packages do not change while an app is being developed, and are many. */
function isOwn(path: string): boolean {
  return !path.includes('/node_modules/') && !path.includes('\n');
}

function append(file: string, paths: readonly string[]): void {
  try {
    fs.appendFileSync(file, paths.map(lineOf).join(''));
  } catch {
    // The gateway has gone, and so will this process.
  }
}

function lineOf(path: string): string {
  // Loaders name what is no file as well; nobody can watch that.
  const found = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeNs} ${found.size} ${path}\n`;
}
