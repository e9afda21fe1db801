/** Packages that an app has installed. */
import { createRequire } from 'node:module';
import path from 'node:path';

/** A function that says whether an app at `root` has packages of all these names. */
export function installedAt(root: string): (...names: string[]) => boolean {
  const require = createRequire(path.resolve(root, 'package.json'));
  const isInstalled = (name: string): boolean => {
    try {
      require.resolve(name);
      return true;
    } catch {
      return false;
    }
  };
  return (...names) => names.every(isInstalled);
}
