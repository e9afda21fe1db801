// A release as `make dist` puts it together, with the binary that is tested.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { HOST, PLATFORMS } from '../../packaging/platforms.ts';
import { type Release, assemble } from '../../packaging/release.ts';
import { repositoryDir } from '../support/sluice.ts';

export interface TestRelease extends Release {
  readonly dir: string;
}

/** Calls `after` with what removes the folder again. */
export async function releaseForTest({
  after,
}: {
  readonly after: (remove: () => void) => void;
}): Promise<TestRelease> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-release-'));
  after(() => fs.rmSync(dir, { recursive: true, force: true }));
  // Each release has a package for every platform. Those that fit elsewhere hold no program, which a wrong choice would show.
  const elsewhere = path.join(dir, 'elsewhere');
  fs.writeFileSync(elsewhere, 'a binary for another platform\n');
  const binaries = PLATFORMS.map(
    (platform) => [platform, platform.name === HOST ? strippedBinary(dir) : elsewhere] as const,
  );
  return { dir, ...(await assemble(dir, new Map(binaries))) };
}

/** A build with debug information takes longer to pack than all the rest of the test. */
function strippedBinary(dir: string): string {
  const built = process.env['SLUICE_BINARY'] ?? path.join(repositoryDir, 'gateway/target/debug/sluice');
  const stripped = path.join(dir, 'sluice');
  const { status } = spawnSync('strip', ['-o', stripped, built]);
  return status === 0 ? stripped : built;
}
