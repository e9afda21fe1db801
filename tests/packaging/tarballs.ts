// Tarballs of all packages, made as a release makes them, with the binary that is tested.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Tarball, pack } from '../../packaging/pack.ts';
import { HOST, PLATFORMS } from '../../packaging/platforms.ts';
import { stage } from '../../packaging/stage.ts';
import { repositoryDir } from '../support/sluice.ts';

export interface Packed {
  /** Folders of which the tarballs were made. */
  readonly folders: readonly string[];
  readonly tarballs: readonly Tarball[];
}

/** Calls `after` with what removes the folder again. */
export function packAll({ after }: { readonly after: (remove: () => void) => void }): Packed {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-pack-'));
  after(() => fs.rmSync(dir, { recursive: true, force: true }));
  // Each release has a package for every platform. Those that fit elsewhere hold no program, which a wrong choice would show.
  const elsewhere = path.join(dir, 'elsewhere');
  fs.writeFileSync(elsewhere, 'a binary for another platform\n');
  const binaries = PLATFORMS.map(
    (platform) => [platform, platform.name === HOST ? strippedBinary(dir) : elsewhere] as const,
  );
  const folders = stage(path.join(dir, 'stage'), new Map(binaries));
  return { folders, tarballs: pack(folders, path.join(dir, 'tarballs')) };
}

/** A build with debug information takes longer to pack than all the rest of the test. */
function strippedBinary(dir: string): string {
  const built = process.env['SLUICE_BINARY'] ?? path.join(repositoryDir, 'gateway/target/debug/sluice');
  const stripped = path.join(dir, 'sluice');
  const { status } = spawnSync('strip', ['-o', stripped, built]);
  return status === 0 ? stripped : built;
}
