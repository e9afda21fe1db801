/**
 * Tarballs of staged packages, as `npm pack` makes them. Staged folders have no scripts, so nothing runs. It must not know
 * what the packages are.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export interface Tarball {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** Packs these folders into `into`, in this order. */
export function pack(folders: readonly string[], into: string): readonly Tarball[] {
  fs.mkdirSync(into, { recursive: true });
  const output = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', into, ...folders],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const packed = Object.values(
    JSON.parse(output) as Record<string, { name: string; filename: string; size: number }>,
  );
  return packed.map(({ name, filename, size }) => ({
    name,
    // Older versions of npm name the file as the package, with a slash.
    file: path.join(into, filename.replace('@', '').replace('/', '-')),
    bytes: size,
  }));
}
