/**
 * Platforms that have a package with a binary, and how each binary is built. It must not know how packages are packed.
 * One static binary serves every Linux distribution of a CPU (decision 0105), so no package names a C library.
 */

export interface Platform {
  /** `process.platform` and `process.arch` of Node.js, joined: the package's name below `@sluice/`. */
  readonly name: string;
  readonly os: 'linux' | 'darwin';
  readonly cpu: 'x64' | 'arm64';
  /** Target of rustc. */
  readonly target: string;
}

export const PLATFORMS: readonly Platform[] = [
  { name: 'linux-x64', os: 'linux', cpu: 'x64', target: 'x86_64-unknown-linux-musl' },
  { name: 'linux-arm64', os: 'linux', cpu: 'arm64', target: 'aarch64-unknown-linux-musl' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', target: 'x86_64-apple-darwin' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', target: 'aarch64-apple-darwin' },
];

export const HOST = `${process.platform}-${process.arch}`;

/** Platforms whose binaries this machine can build: those of its own operating system. */
export function buildable(os: string = process.platform): readonly Platform[] {
  return PLATFORMS.filter((platform) => platform.os === os);
}

/** Name of the package that holds a platform's binary. */
export function packageOf(platform: Platform): string {
  return `@sluice/${platform.name}`;
}
