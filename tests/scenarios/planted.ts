// Builds the app with planted faults as production builds are: one file, minified, with a source map beside it.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { app } from '../support/sluice.ts';

const SOURCE = app('planted/faults.ts');

/** Path of the bundle, in a directory that the caller takes away. */
export async function bundled(dir: string): Promise<string> {
  const outfile = path.join(dir, 'server.mjs');
  await build({
    entryPoints: [app('planted/server.ts')],
    outfile,
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  return outfile;
}

/** Whether the place is in this function of the faults. */
export function isIn(name: string, place: { file: string; line: number } | undefined): boolean {
  if (place === undefined || path.resolve(place.file) !== fs.realpathSync(SOURCE)) return false;
  const lines = fs.readFileSync(SOURCE, 'utf8').split('\n');
  const first = lines.findIndex((line) => line.startsWith(`export function ${name}(`)) + 1;
  const last = lines.findIndex((line, index) => index >= first && line === '') + 1 || lines.length;
  return first > 0 && place.line >= first && place.line <= last;
}
