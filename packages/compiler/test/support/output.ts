/** A directory for built bundles from which the packages of this repository are found; it is removed at the end. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

// For the bundles that tests load, and for the bundlers.
process.env['NODE_ENV'] = 'production';

export const APP = fileURLToPath(new URL('../fixtures/app/', import.meta.url));

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
mkdirSync(dist, { recursive: true });
export const OUTPUT = mkdtempSync(join(dist, 'test-'));
after(() => rmSync(OUTPUT, { recursive: true, force: true }));

export function write(name: string, code: string): string {
  const path = join(OUTPUT, name);
  writeFileSync(path, code);
  return path;
}

/** What a bundle exports. */
export async function load<T>(name: string, code: string): Promise<T> {
  return (await import(pathToFileURL(write(name, code)).href)) as T;
}
