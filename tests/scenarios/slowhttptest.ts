// Runs Debian's slowhttptest against a gateway.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Sluice } from '../support/sluice.ts';

/** For the `skip` of a test: false where the tool is installed. */
export const missing: string | false =
  spawnSync('slowhttptest', ['-h'], { stdio: 'ignore' }).error === undefined
    ? false
    : 'slowhttptest is not installed; see install.sh';

/** Attacks until `stop` is called, with 200 connections. `args` choose the kind of slowness. */
export function attack(sluice: Sluice, target: string, args: string[]): { stop: () => Promise<void> } {
  const child = spawn(
    'slowhttptest',
    [...args, '-c', '200', '-r', '200', '-l', '60', '-p', '30', '-u', `${sluice.url}${target}`],
    { stdio: 'ignore' },
  );
  const exited = once(child, 'exit');
  return {
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
