/** Class names of CSS Modules for components that run without a build. It must not know sets or pages. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFile, resolveImport } from './transform.js';

/**
 * `styles.title` is `avBvha_title`. Reads the file synchronously; `root` is `StylesOptions.root`. Throws where it cannot be read,
 * or where files compose from each other in a circle.
 */
export function cssModule(
  file: string | URL,
  root: string = process.cwd(),
): Readonly<Record<string, string>> {
  const absolute = path.resolve(root, typeof file === 'string' ? file : fileURLToPath(file));
  const { exports } = compileFile(absolute, readFileSync(absolute), { root });
  return Object.fromEntries(
    Object.entries(exports).map(([local, { name, composes }]) => {
      const others = composes.map((reference) =>
        reference.type === 'dependency'
          ? (cssModule(resolveImport(reference.specifier, absolute), root)[reference.name] ?? reference.name)
          : reference.name,
      );
      return [local, [name, ...others].join(' ')];
    }),
  );
}
