/**
 * Routers that are modules (ESM) of the app's own packages. Node has no cheap way to see what an app imports, so an app that names
 * one in its `package.json` has it imported a moment before it does so itself. It gets the same copy.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Catcher } from './route-catch.js';

/** Maximum number of searched directories, upwards from the app's script. */
const FOLDERS_MAX = 20;

interface Manifest {
  readonly type?: unknown;
  readonly dependencies?: object;
  readonly devDependencies?: object;
  readonly optionalDependencies?: object;
}

const honoRouters = ['smart-router', 'pattern-router', 'linear-router', 'trie-router', 'reg-exp-router'];

const packages: readonly {
  readonly name: string;
  readonly files: readonly string[];
  readonly take: (catcher: Catcher, exports: unknown) => void;
}[] = [
  { name: '@koa/router', files: ['dist/index.mjs'], take: (catcher, exports) => catcher.koa(exports) },
  { name: 'koa-router', files: ['dist/index.mjs'], take: (catcher, exports) => catcher.koa(exports) },
  {
    name: 'hono',
    files: honoRouters.map((name) => `dist/router/${name}/router.js`),
    take: (catcher, exports) => catcher.hono(exports),
  },
];

/**
 * Imports the routers, and resolves when all of them are there. Failures are ignored: the app's own import says better
 * what is wrong.
 */
export async function importRouters(entry: string | undefined, catcher: () => Catcher): Promise<void> {
  for (const { name, files, take } of packages) {
    const folder = entry === undefined ? undefined : packageOf(entry, name);
    for (const file of folder === undefined ? [] : files) {
      const path = join(String(folder), file);
      if (!existsSync(path)) continue;
      try {
        take(catcher(), await import(pathToFileURL(path).href));
      } catch {
        // As above.
      }
    }
  }
}

/** Returns the path of the package, if the app's script is a module and its `package.json` names the package. */
export function packageOf(entry: string, name: string): string | undefined {
  let [folder, isModule, isNamed] = ['', ['.mjs', '.mts'].includes(extname(entry)), false];
  try {
    folder = dirname(realpathSync(entry));
  } catch {
    return undefined;
  }
  let isTyped = isModule || ['.cjs', '.cts'].includes(extname(entry));
  for (let looked = 0; looked < FOLDERS_MAX; looked += 1) {
    const manifest = manifestIn(folder);
    if (manifest !== undefined) {
      if (!isTyped) [isTyped, isModule] = [true, manifest.type === 'module'];
      if (!isModule) return undefined;
      const { dependencies, devDependencies, optionalDependencies } = manifest;
      isNamed ||= Object.hasOwn({ ...dependencies, ...devDependencies, ...optionalDependencies }, name);
    }
    const found = join(folder, 'node_modules', name);
    if (isNamed && existsSync(found)) return found;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}

function manifestIn(folder: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
