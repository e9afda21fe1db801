/** Adapters of a project's frameworks: which there are, and the modules that a build has them in. It must not know boxes. */
import path from 'node:path';
import { installedAt } from './installed.js';
import * as modules from './modules.js';

/** Frameworks with an adapter here, and what their adapters and components import of them: the first has to be installed. */
export const FRAMEWORKS = {
  react: ['react-dom/client', 'react-dom', 'react', 'react/jsx-runtime', 'react/jsx-dev-runtime'],
  preact: ['preact', 'preact/hooks', 'preact/jsx-runtime', 'preact/jsx-dev-runtime'],
  vue: ['vue'],
} as const;

/** Frameworks with an adapter here that a project has installed. */
export function installedIn(root: string): readonly (keyof typeof FRAMEWORKS)[] {
  const isInstalled = installedAt(root);
  const names = Object.keys(FRAMEWORKS) as (keyof typeof FRAMEWORKS)[];
  return names.filter((name) => isInstalled(FRAMEWORKS[name][0]));
}

/** Modules of adapters by the name that boxes have as `a`. `own` are paths from `root`. */
export function adaptersFor(
  root: string,
  own: Readonly<Record<string, string>> = {},
  runsOnPreact: boolean,
  isWrapped: boolean,
): ReadonlyMap<string, string> {
  const adapters = new Map<string, string>();
  for (const name of ['plain', ...installedIn(root)]) adapters.set(name, modules.ownFile(`adapters/${name}`));
  if (runsOnPreact) adapters.set('react', modules.ownFile('adapters/preact'));
  if (isWrapped) adapters.set('react', modules.WRAPPED_REACT);
  for (const [name, file] of Object.entries(own)) adapters.set(name, path.resolve(root, file));
  return adapters;
}

/** Adapters for files of several components, and what each of them is made of. */
export function forGroups(adapters: ReadonlyMap<string, string>): {
  adapters: ReadonlyMap<string, string>;
  groupedAdapters: ReadonlyMap<string, string>;
} {
  const ids = new Map<string, string>();
  for (const [name, file] of adapters) if (!ids.has(file)) ids.set(file, modules.ADAPTER + name);
  return {
    adapters: new Map([...adapters].map(([name, file]) => [name, ids.get(file) ?? file])),
    groupedAdapters: new Map([...ids].map(([file, id]) => [id, file])),
  };
}
