/**
 * A worker is often a tree of processes (npm, a shell, the app, its children), each of which loads the preload.
 * Exactly one of them serves: the first whose HTTP server listens. The file created here decides who was first.
 */
import { closeSync, existsSync, openSync } from 'node:fs';

/**
 * True for the one caller per worker that gets the role. Synchronous, because `listen()` is.
 *
 * @throws where that cannot be told, as on a disk without room for a name: a worker that took it for a no would run and
 *   never serve, and nobody would know why.
 */
export function claimRole(socketPath: string): boolean {
  try {
    // Empty: a full disk has room for a name more often than for a byte.
    closeSync(openSync(`${socketPath}.claim`, 'wx', 0o600));
    return true;
  } catch (error) {
    // Somebody else has it, or the run directory is gone together with the gateway.
    if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Whether anybody has the role already. */
export function isClaimed(socketPath: string): boolean {
  return existsSync(`${socketPath}.claim`);
}
