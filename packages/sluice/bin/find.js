// @ts-check
/**
 * Finds the gateway's binary and the preload in whatever layout a package manager has made: one folder, pnpm's links,
 * Yarn's Plug'n'Play, a global folder. It must not know how they are run.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Platforms that have a package with a binary. */
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const PLATFORM = `${process.platform}-${process.arch}`;
// Plug'n'Play answers `require.resolve` without a loader.
const { resolve } = createRequire(import.meta.url);

/** A file that is not there; the message says what to do. */
export class MissingError extends Error {}

/** @returns {string} the path of the gateway's binary */
export function findBinary() {
  // One that is named has to be there: falling back would run another version than asked.
  const named = process.env['SLUICE_BINARY'];
  if (named) {
    if (existsSync(named)) return named;
    throw new MissingError(`SLUICE_BINARY names no file: ${named}`);
  }
  const found = isInstalled() ? resolved(`@sluice/${PLATFORM}/bin/sluice`) : builtHere();
  if (found !== undefined) return found;
  throw new MissingError(isInstalled() ? whyNoPackage() : 'no binary was found: run "make build" first.');
}

/** @returns {string} the path of the preload */
export function findPreload() {
  const named = process.env['SLUICE_PRELOAD'];
  if (named) return named;
  const found = resolved('@sluice/preload/register');
  if (found !== undefined) return found;
  throw new MissingError(
    isInstalled()
      ? 'the package @sluice/preload is missing, although sluice depends on it: install sluice again.'
      : '@sluice/preload is not built: run "make build" first.',
  );
}

/** Whether this is the published package. In the repository, no package manager's folder is above this file. */
function isInstalled() {
  return /[\\/](node_modules|\.yarn)[\\/]/.test(fileURLToPath(import.meta.url));
}

/** @returns {string | undefined} */
function builtHere() {
  return [
    `../platform/${PLATFORM}/sluice`,
    '../../../gateway/target/release/sluice',
    '../../../gateway/target/start/sluice',
    '../../../gateway/target/debug/sluice',
  ]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/**
 * @param {string} name
 * @returns {string | undefined}
 */
function resolved(name) {
  try {
    const path = resolve(name);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function whyNoPackage() {
  if (!PLATFORMS.includes(PLATFORM)) {
    return (
      `there is no binary for ${PLATFORM}, only for ${PLATFORMS.join(', ')}. ` +
      'Build the gateway from source and name it in SLUICE_BINARY.'
    );
  }
  const other = PLATFORMS.find((name) => resolved(`@sluice/${name}/package.json`) !== undefined);
  const cause =
    other === undefined
      ? 'Optional dependencies were left out (--no-optional, --omit=optional), or the lock file was written on another platform.'
      : `@sluice/${other} is installed: node_modules was copied here from ${other}, or another Node.js installed it.`;
  return (
    `the package @sluice/${PLATFORM}, which holds the binary, is not installed. ${cause} ` +
    'Remove node_modules and install again on this machine, with optional dependencies. ' +
    'Elsewhere, SLUICE_BINARY can name a binary.'
  );
}
