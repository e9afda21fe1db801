/** Builds the shop as `npm run build` does, into `dist` or a folder of a test's own. */

import { fileURLToPath } from 'node:url';
import { createBuilder, build as buildServer } from 'vite';

const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url));

/** `dist`: an absolute path. */
export async function build(dist?: string): Promise<void> {
  if (dist !== undefined) process.env['STOREFRONT_DIST'] = dist;
  await (await createBuilder({ configFile })).buildApp();
  await buildServer({ configFile, mode: 'react-dom' });
}
