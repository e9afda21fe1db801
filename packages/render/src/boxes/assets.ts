/** `sluice-assets.json`, which `@sluice/browser/vite` has written: addresses of code, files of styles. It must not know pages. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface ComponentAssets {
  /** Addresses: the component's own code first, then all that it imports. */
  readonly js: readonly string[];
  /** Files of styles, from the folder of the manifest. */
  readonly css: readonly string[];
}

export interface Assets {
  /** Address of the runtime. */
  readonly runtime: string;
  /** Files of components by `Name` or `Name@version`. */
  readonly components: Readonly<Record<string, ComponentAssets>>;
  /** Files by the name of the adapter. */
  readonly adapters?: Readonly<Record<string, { readonly js: readonly string[] }>>;
  /** A script that keeps clicks until the runtime is there. */
  readonly early?: { readonly code: string; readonly sha256: string };
}

/** Reads the manifest, with absolute paths of styles. Throws if the file is not there, or is none. */
export function readAssets(file: string): Assets {
  const assets = JSON.parse(readFileSync(file, 'utf8')) as Assets;
  if (typeof assets.runtime !== 'string' || typeof assets.components !== 'object')
    throw new TypeError(`${file} is not a sluice-assets.json: it needs \`runtime\` and \`components\``);
  const folder = path.dirname(path.resolve(file));
  return {
    ...assets,
    components: Object.fromEntries(
      Object.entries(assets.components).map(([name, { js, css }]) => [
        name,
        { js, css: css.map((style) => path.resolve(folder, style)) },
      ]),
    ),
  };
}

/** Code that boxes of these components need, in the order in which it is to be fetched. */
export function assetsOf(assets: Assets | undefined, reference: string): ComponentAssets | undefined {
  return assets !== undefined && Object.hasOwn(assets.components, reference)
    ? assets.components[reference]
    : undefined;
}
