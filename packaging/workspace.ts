/**
 * The repository as a release sees it: its folders, its version, and the packages that are published. It must not know
 * what a release does with them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));
/** Folder in which a release is assembled. */
export const distDir = path.join(root, 'dist');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly keywords?: readonly string[];
}

export interface Package {
  /** Folder below the root. */
  readonly folder: string;
  readonly manifest: Manifest;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

/** Packages that are published, those first on which others depend. */
export function publishedPackages(): readonly Package[] {
  const all = fs
    .readdirSync(path.join(root, 'packages'))
    .map((name) => path.posix.join('packages', name))
    .filter((folder) => fs.existsSync(path.join(root, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true);
  return inOrder(all);
}

/**
 * Address of the repository that a release is built in, as GitHub tells its workflows: `https://github.com/OWNER/NAME`. Undefined elsewhere, where
 * packages are built to be tried and name no source.
 */
export function repositoryUrl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: repository } = env;
  return repository === undefined ? undefined : `${server}/${repository}`;
}

/** The version that all packages and the gateway share. */
export function releaseVersion(): string {
  return readManifest('packages/sluice').version;
}

function inOrder(packages: readonly Package[]): readonly Package[] {
  const ordered = new Set<Package>();
  const add = (one: Package): void => {
    for (const name of Object.keys(one.manifest.dependencies ?? {})) {
      const other = packages.find(({ manifest }) => manifest.name === name);
      if (other !== undefined && !ordered.has(other)) add(other);
    }
    ordered.add(one);
  };
  for (const one of packages) add(one);
  return [...ordered];
}
