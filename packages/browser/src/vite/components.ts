/** Finds the files of components. Names are those that `registryFromFiles` of `@sluice/render` gives on the server. */
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

export interface ComponentFile {
  readonly name: string;
  /** Undefined: the only one. */
  readonly version: string | undefined;
  /** Name, with `@version` if it has one: what boxes and the manifest call it. */
  readonly key: string;
  /** Absolute, with `/`. */
  readonly file: string;
}

const FILE = /\.(?:[cm]?[jt]sx?|vue)$/;
const NO_COMPONENT = /(?:^|\/)(?:_|node_modules\/)|\.(?:test|spec|stories|d)\.[cm]?[jt]sx?$/;
const VERSION = /^(.+)@(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?)$/;
const OWN_NAME = /^export const name\s*=\s*(['"])([^'"\n]+)\1/m;

/** Finds components in the order of their paths. Throws if two files have the same name, but for different versions. */
export async function findComponents(folder: string): Promise<readonly ComponentFile[]> {
  const found = (await readdir(folder, { recursive: true })).map((file) => file.split(path.sep).join('/'));
  const files = found.filter((file) => isComponentFile(file)).toSorted();
  const components = await Promise.all(files.map((file) => describe(folder, file)));
  const byKey = new Map<string, ComponentFile>();
  for (const component of components) {
    const other = byKey.get(component.key);
    if (other)
      throw new Error(`two files define the component ${component.key}: ${other.file}, ${component.file}`);
    byKey.set(component.key, component);
  }
  for (const { name, version } of components)
    if (version !== undefined && byKey.has(name))
      throw new Error(`several files of ${name} need versions, each`);
  return components;
}

/** `file` is the path below the folder. */
export function isComponentFile(file: string): boolean {
  return FILE.test(file) && !NO_COMPONENT.test(file);
}

async function describe(folder: string, below: string): Promise<ComponentFile> {
  const file = path.posix.join(folder.split(path.sep).join('/'), below);
  const whole = below.replace(FILE, '').replace(/\/index$/, '');
  const [, withVersion, version] = VERSION.exec(whole) ?? [];
  const own = OWN_NAME.exec(await readFile(file, 'utf8'))?.[2];
  const name = own ?? withVersion ?? whole;
  return { name, version, key: version === undefined ? name : `${name}@${version}`, file };
}
