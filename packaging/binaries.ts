/**
 * Binaries of a release: `dist/binaries/PLATFORM/sluice` for each platform that this machine can build, or for those named
 * as arguments. Zig links for Linux, so that no C compiler for musl has to be there (decision 0105).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PLATFORMS, type Platform, buildable } from './platforms.ts';
import { distDir, root } from './workspace.ts';

export const binariesDir = path.join(distDir, 'binaries');
const PROFILE = 'dist';

/** Binaries that are there, built here or brought here from other machines. */
export function builtBinaries(): ReadonlyMap<Platform, string> {
  return new Map(
    PLATFORMS.map((platform) => [platform, path.join(binariesDir, platform.name, 'sluice')] as const).filter(
      ([, file]) => fs.existsSync(file),
    ),
  );
}

function build({ name, os, target }: Platform): void {
  // Without rustup, as with a distribution's Rust, the target's standard library has to be there already.
  spawnSync('rustup', ['target', 'add', target], { stdio: 'inherit' });
  const command = os === 'linux' ? 'zigbuild' : 'build';
  const args = ['--profile', PROFILE, '--locked', '--bin', 'sluice', '--target', target];
  const manifest = path.join(root, 'gateway/Cargo.toml');
  const { status } = spawnSync('cargo', [command, '--manifest-path', manifest, ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  const targetDir = process.env['CARGO_TARGET_DIR'] ?? path.join(root, 'gateway/target');
  const file = path.join(binariesDir, name, 'sluice');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.copyFileSync(path.join(targetDir, target, PROFILE, 'sluice'), file);
  console.log(`${path.relative(root, file)}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`);
}

if (process.argv[1] === import.meta.filename) {
  const named = process.argv.slice(2);
  const unknown = named.filter((name) => !buildable().some((platform) => platform.name === name));
  if (unknown.length > 0) {
    console.error(`not built on ${process.platform}: ${unknown.join(', ')}`);
    process.exitCode = 2;
  } else {
    for (const platform of buildable())
      if (named.length === 0 || named.includes(platform.name)) build(platform);
  }
}
