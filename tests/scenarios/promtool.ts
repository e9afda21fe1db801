// Where promtool is: on PATH, or where `install.sh` has put it.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { repositoryDir } from '../support/sluice.ts';

const FETCHED = path.join(repositoryDir, 'node_modules/.cache/sluice/promtool');

/** The program; nothing where it is not installed. */
export const promtool = (): string | undefined =>
  ['promtool', FETCHED].find((program) => spawnSync(program, ['--version']).status === 0);
