/** Components in files, as `getFiles` and `createGetComponent` of Hypernova find them. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface ComponentFile {
  /** Path below the folder. */
  readonly name: string;
  readonly path: string;
}

/** All `.js` files below a folder. */
export function getFiles(folder: string): ComponentFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .toSorted()
    .map((name) => ({ name, path: path.join(folder, name) }));
}

/**
 * A `getComponent` of files by the names of their components; null for others. A file is loaded on its first use, as a module of this process:
 * there is no sandbox, so that `vmOptions` are refused.
 */
export function createGetComponent(
  files: Readonly<Record<string, string>>,
  vmOptions?: Readonly<Record<string, unknown>>,
): (name: string) => Promise<unknown> | null {
  if (vmOptions !== undefined) refuseVm('The second argument of createGetComponent()');
  const paths = new Map(Object.entries(files));
  return (name) => {
    const file = paths.get(name);
    return file === undefined ? null : load(file);
  };
}

async function load(file: string): Promise<unknown> {
  return viewOf(await import(pathToFileURL(path.resolve(file)).href));
}

export function refuseVm(what: string): never {
  throw new TypeError(
    `${what} is not supported: components are modules of the process, and no sandbox of node:vm keeps them apart`,
  );
}

/** The function that is a module's export: as it is, or as a default export, however that was compiled. */
function viewOf(module: unknown): unknown {
  let view = module;
  while (typeof view === 'object' && view !== null && 'default' in view) view = view.default;
  return view;
}
