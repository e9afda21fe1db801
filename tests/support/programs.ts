// Programs of others that tests run: on PATH, where `tests/scenarios/install.sh` has put them, or where make has built them.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { repositoryDir } from './sluice.ts';

const FOLDERS = ['node_modules/.cache/sluice', 'packaging/.tools/bin'];
/** Arguments with which a program says its version. */
const VERSION: Readonly<Record<string, string>> = {
  helm: 'version',
  haproxy: '-v',
  kubectl: 'version --client',
};

/** Path of the program; undefined where it is not installed. */
export function programNamed(name: string): string | undefined {
  const args = (VERSION[name] ?? '--version').split(' ');
  const places = [name, ...FOLDERS.map((folder) => path.join(repositoryDir, folder, name))];
  if (name === 'haproxy') places.push('/usr/sbin/haproxy');
  return places.find((program) => spawnSync(program, args).status === 0);
}
