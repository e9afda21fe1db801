/**
 * A release as a folder: tarballs in the order in which they are published, a bill of materials, and checksums of all. It must
 * not know where the binaries come from, nor where the release goes.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { shippedCrates } from './crates.ts';
import { embeddedPackages } from './embedded.ts';
import { type Tarball, pack } from './pack.ts';
import type { Platform } from './platforms.ts';
import { billOfMaterials } from './sbom.ts';
import { stage } from './stage.ts';
import { releaseVersion } from './workspace.ts';

const ORDER = 'packages.json';
const SUMS = 'SHA256SUMS';

export interface Release {
  /** Folders of which the tarballs were made. */
  readonly folders: readonly string[];
  readonly tarballs: readonly Tarball[];
}

/** A file that differs from its checksum, or has none. */
export class ChangedFileError extends Error {
  override readonly name = 'ChangedFileError';
  constructor(file: string) {
    super(`${file} is not the file that ${SUMS} names: run "make dist" again.`);
  }
}

export async function assemble(dir: string, binaries: ReadonlyMap<Platform, string>): Promise<Release> {
  fs.mkdirSync(dir, { recursive: true });
  for (const file of fs.readdirSync(dir))
    if (/\.(tgz|json)$/.test(file) || file === SUMS) fs.rmSync(path.join(dir, file));
  const folders = stage(path.join(dir, 'stage'), binaries);
  const tarballs = pack(folders, dir);
  const bill = path.join(dir, `sluice-${releaseVersion()}.cdx.json`);
  writeJson(bill, billOfMaterials(releaseVersion(), shippedCrates(), await embeddedPackages()));
  const order = tarballs.map(({ file }) => path.basename(file));
  writeJson(path.join(dir, ORDER), order);
  const sums = [...order, path.basename(bill)].map((name) => `${sha256(path.join(dir, name))}  ${name}\n`);
  fs.writeFileSync(path.join(dir, SUMS), sums.join(''));
  return { folders, tarballs };
}

/** Tarballs of a release, those first on which others depend. Each is what it was when the release was assembled. */
export function tarballsInOrder(dir: string): readonly string[] {
  const order = JSON.parse(fs.readFileSync(path.join(dir, ORDER), 'utf8')) as readonly string[];
  const sums = fs.readFileSync(path.join(dir, SUMS), 'utf8').split('\n');
  return order.map((name) => {
    const file = path.join(dir, name);
    if (!sums.includes(`${sha256(file)}  ${name}`)) throw new ChangedFileError(name);
    return file;
  });
}

function writeJson(file: string, content: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

function sha256(file: string): string {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}
