/** A registry of the components in a folder. Only the folder is read: each file is imported on its component's first use. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Settings } from '../component.js';
import { createRegistry, type ComponentModule, type Registry, type RegistryOptions } from './registry.js';
import { isVersion } from './versions.js';

export interface FilesOptions extends RegistryOptions {
  /** Settings of all components; those that a file exports come first. */
  readonly settings?: Settings;
  /** Adds to a registry that is there, instead of making one. */
  readonly registry?: Registry;
  /** Default: whatever ends in `.js`, `.mjs` or `.cjs` and is no test. */
  readonly isComponent?: (file: string) => boolean;
}

const FILE = /\.[cm]?js$/;
const NO_COMPONENT = /(?:^|\/)(?:_|node_modules\/)|\.(?:test|spec|stories)\.[cm]?js$/;

/**
 * Components by their paths below `folder`: `shop/Hero.js` and `shop/Hero/index.js` are `shop/Hero`; `shop/Hero@2.1.0.js` is
 * version 2.1.0 of it. A file's default export is the view; it may export `settings`. Files and folders whose names begin with
 * `_` are left out. Rejects where the folder cannot be read.
 */
export async function registryFromFiles(folder: string, options: FilesOptions = {}): Promise<Registry> {
  const { settings, registry = createRegistry(options), isComponent = isComponentFile } = options;
  const found = await readdir(folder, { recursive: true });
  const files = found.map((file) => file.split(path.sep).join('/')).filter(isComponent);
  for (const file of files.toSorted()) {
    const { name, version } = nameOf(file);
    const url = pathToFileURL(path.resolve(folder, file)).href;
    const importOnce = importer(url);
    const load = async (): Promise<ComponentModule> => {
      const module = (await importOnce()) as ComponentModule;
      return { default: module.default, settings: { ...settings, ...module.settings } };
    };
    registry.lazy(
      name,
      load,
      {},
      { file: path.join(folder, file), ...(version !== undefined && { version }) },
    );
  }
  return registry;
}

/** Failed tries that get an address of their own. Each stays in memory, so that a file which is broken for days must not have new ones. */
const TRIES_MAX = 20;

/**
 * Imports a file. Node keeps a failed import for its address, so the try after a failure asks for another one. What the file itself
 * imports keeps its address: where that has failed, only a new process tries it again.
 */
function importer(url: string): () => Promise<unknown> {
  let failures = 0;
  return async () => {
    const tries = Math.min(failures, TRIES_MAX);
    try {
      return await import(tries === 0 ? url : `${url}?sluice-try=${tries}`);
    } catch (error) {
      failures += 1;
      throw error;
    }
  };
}

export function isComponentFile(file: string): boolean {
  return FILE.test(file) && !NO_COMPONENT.test(file);
}

/** The name that a file gives its component, from its path below the folder, with `/` between its parts. */
export function nameOf(file: string): { readonly name: string; readonly version: string | undefined } {
  const whole = file.replace(FILE, '').replace(/\/index$/, '');
  const cut = whole.lastIndexOf('@');
  const version = whole.slice(cut + 1);
  if (cut < 1 || !isVersion(version)) return { name: whole, version: undefined };
  return { name: whole.slice(0, cut), version };
}
