/**
 * A worker is often a tree of processes (npm, a shell, the app, its children), each of which loads the preload.
 * Exactly one of them serves: the first whose HTTP server listens. The file created here decides who was first.
 */
import { writeFileSync } from 'node:fs';

/** True for the one caller per worker that gets the role. Synchronous, because `listen()` is. */
export function claimRole(socketPath: string): boolean {
  try {
    writeFileSync(`${socketPath}.claim`, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    // Somebody else has it, or the run directory is gone together with the gateway.
    return false;
  }
}
