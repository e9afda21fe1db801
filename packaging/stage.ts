/**
 * Folders of packages as users get them: built files, README, licence, and a manifest without what only this repository
 * needs. Tarballs are made of these. It must not know where the binaries come from, nor where packages go.
 */
import fs from 'node:fs';
import path from 'node:path';
import { PLATFORMS, type Platform, packageOf } from './platforms.ts';
import {
  type Manifest,
  type Package,
  publishedPackages,
  readManifest,
  releaseVersion,
  repositoryUrl,
  root,
} from './workspace.ts';

/** The command's package, which brings the binaries' packages along. */
const COMMAND = 'sluice';
/** The package beside which the gateway looks for the page of a flame graph. */
const PRELOAD = '@sluice/preload';
const FLAME_PAGE = 'packages/flame/dist/flame.html';
/** Packages that hold nothing for Yarn's Plug'n'Play to keep in an archive: the gateway opens their files itself. */
const UNPLUGGED = new Set([COMMAND, PRELOAD, '@sluice/react']);

export class NotBuiltError extends Error {
  override readonly name = 'NotBuiltError';
  constructor(file: string) {
    super(`${file} is not there: run "make packages" first.`);
  }
}

/** Folders of all published packages below `into`, in the order in which they have to be published. */
export function stage(into: string, binaries: ReadonlyMap<Platform, string>): readonly string[] {
  fs.rmSync(into, { recursive: true, force: true });
  const platforms = [...binaries].map(([platform, binary]) => stagePlatform(platform, binary, into));
  return [...platforms, ...publishedPackages().map((one) => stagePackage(one, into))];
}

function stagePackage({ folder, manifest }: Package, into: string): string {
  const staged = path.join(into, path.basename(folder));
  fs.mkdirSync(staged, { recursive: true });
  for (const file of [...(manifest.files ?? []), 'README.md']) {
    const source = path.join(root, folder, file);
    if (!fs.existsSync(source)) throw new NotBuiltError(path.join(folder, file));
    fs.cpSync(source, path.join(staged, file), { recursive: true });
  }
  if (manifest.name === PRELOAD) copyPage(staged);
  const { devDependencies: _tools, scripts: _scripts, ...published } = manifest;
  write(staged, {
    ...published,
    ...origin(folder),
    ...peers(manifest),
    ...(UNPLUGGED.has(manifest.name) ? { preferUnplugged: true } : {}),
    // Not in the repository's own manifest, whose lock file would have to name packages that are not published yet.
    ...(manifest.name === COMMAND ? { optionalDependencies: binaryPackages() } : {}),
  });
  return staged;
}

/** Copies the page that `sluice profile` and `sluice heap` fill. Its package is not published. */
function copyPage(staged: string): void {
  const page = path.join(root, FLAME_PAGE);
  if (!fs.existsSync(page)) throw new NotBuiltError(FLAME_PAGE);
  fs.copyFileSync(page, path.join(staged, 'dist', path.basename(page)));
}

/** Peers of this repository in exactly this version: the sources say `*`, lest a new version count as a breaking change. */
function peers({ peerDependencies }: Manifest): Readonly<Record<string, unknown>> {
  if (peerDependencies === undefined) return {};
  const pinned = Object.entries(peerDependencies).map(([name, range]) => [
    name,
    name.startsWith('@sluice/') ? releaseVersion() : range,
  ]);
  return { peerDependencies: Object.fromEntries(pinned) };
}

function binaryPackages(): Record<string, string> {
  return Object.fromEntries(PLATFORMS.map((platform) => [packageOf(platform), releaseVersion()]));
}

function stagePlatform(platform: Platform, binary: string, into: string): string {
  const staged = path.join(into, platform.name);
  fs.mkdirSync(path.join(staged, 'bin'), { recursive: true });
  fs.copyFileSync(binary, path.join(staged, 'bin/sluice'));
  fs.chmodSync(path.join(staged, 'bin/sluice'), 0o755);
  const title = `${platform.os === 'linux' ? 'Linux' : 'macOS'} on ${platform.cpu}`;
  fs.writeFileSync(
    path.join(staged, 'README.md'),
    `# ${packageOf(platform)}\n\nThe gateway of Sluice for ${title}. The package \`${COMMAND}\` brings it along.\n`,
  );
  fs.copyFileSync(path.join(root, 'THIRD_PARTY_NOTICES'), path.join(staged, 'THIRD_PARTY_NOTICES'));
  write(staged, {
    name: packageOf(platform),
    version: releaseVersion(),
    description: `The gateway of Sluice for ${title}.`,
    license: 'MIT',
    ...origin(),
    os: [platform.os],
    cpu: [platform.cpu],
    files: ['bin', 'THIRD_PARTY_NOTICES'],
    engines: readManifest(`packages/${COMMAND}`).engines,
    preferUnplugged: true,
  });
  return staged;
}

function write(staged: string, manifest: Readonly<Record<string, unknown>>): void {
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(staged, 'LICENSE'));
  fs.writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Fields that name a package's source. A registry checks it against the place where the package was built. */
function origin(folder?: string): Readonly<Record<string, unknown>> {
  const home = repositoryUrl();
  if (home === undefined) return {};
  return {
    repository: {
      type: 'git',
      url: `git+${home}.git`,
      ...(folder === undefined ? {} : { directory: folder }),
    },
    homepage: `${home}#readme`,
    bugs: `${home}/issues`,
  };
}
