/** The files for browsers, by the names that the build gave them: a new content has a new name. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Assets {
  /** Folder of all below `/assets/`. */
  folder: string;
  stylesheet: string;
  script: string;
}

/** An entry of Vite's manifest. */
interface Built {
  file: string;
  css?: readonly string[];
}

const entry = 'src/client/main.ts';

/** `folder`: what Vite built for browsers. Throws an Error where it has not. */
export function readAssets(folder: string): Assets {
  const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<
    string,
    Built
  >;
  const { file, css: [stylesheet] = [] } = manifest[entry] ?? { file: '' };
  if (stylesheet === undefined) throw new Error(`${folder} has no script and styles of the shop.`);
  return { folder: join(folder, 'assets'), stylesheet: `/${stylesheet}`, script: `/${file}` };
}
