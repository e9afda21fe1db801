/** One file of styles from many, minified, each of them once. It must not know components. */
import path from 'node:path';
import type { Targets } from 'lightningcss';
import type { StyleFile } from './transform.js';

const EXTERNAL = /^(?:https?:)?\/\//;

/** Styles in the order of `files`; what they import comes before them. Runs on threads of lightningcss. */
export async function compileSet(
  files: readonly string[],
  get: (file: string) => StyleFile | undefined,
  root: string,
  targets: Targets | undefined,
): Promise<string> {
  const { bundleAsync } = await import('lightningcss');
  const entry = path.join(root, '.sluice-set.css');
  const imports = files.map((file) => `@import ${JSON.stringify(file)};`).join('\n');
  const { code } = await bundleAsync({
    filename: entry,
    projectRoot: root,
    minify: true,
    errorRecovery: true,
    ...(targets === undefined ? {} : { targets }),
    resolver: {
      read: (file) => (file === entry ? imports : (get(file)?.css ?? '')),
      resolve: (specifier) => (EXTERNAL.test(specifier) ? { external: specifier } : specifier),
    },
  });
  return Buffer.from(code).toString('utf8');
}
