/**
 * The fuzzer against a React that nobody has compared yet, in `packages/react` (`make fuzz-react REACT=canary`):
 *
 *   node --import tsx test/differential/against.ts canary [--trees 20000] [--seed N] [--path P] [--depth N]
 *
 * npm installs it into a scratch folder. There it is told to be of the newest line that is known, which is what the renderer then
 * takes it for: whatever differs is what the next line does otherwise.
 */

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LINES, lineOf } from '../../src/facts/lines.ts';
import { copyRenderer, npmInstall } from '../versions/install.ts';
import { fuzz } from './fuzz.ts';

process.env['NODE_ENV'] = 'production';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    trees: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    path: { type: 'string' },
    depth: { type: 'string', default: '4' },
  },
});
const wanted = positionals[0] ?? 'latest';

const folder = mkdtempSync(join(tmpdir(), 'sluice-react-'));
try {
  const dependencies = { react: wanted, 'react-dom': wanted };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  npmInstall(folder);
  const version = passAsNewest(folder);
  copyRenderer(folder);
  console.log(`react@${wanted} is ${version}, rendered as ${LINES.at(-1)}`);
  const { failure, ...report } = await fuzz({
    react: folder,
    trees: Number(values.trees),
    depth: Number(values.depth),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
    ...(values.path === undefined ? {} : { path: values.path }),
  });
  console.log(report);
  if (failure !== null) {
    // The folder is gone then: the command that shows it again is this one.
    console.log(failure.replaceAll('run.ts', `against.ts ${version}`).replaceAll(` --react ${folder}`, ''));
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Returns the version that it really is. */
function passAsNewest(folder: string): string {
  const modules = join(folder, 'node_modules');
  const { version } = JSON.parse(readFileSync(join(modules, 'react/package.json'), 'utf8')) as {
    version: string;
  };
  if (lineOf(version) === LINES.at(-1)) return version;
  for (const name of ['react', 'react-dom']) {
    const files = readdirSync(join(modules, name, 'cjs')).filter((file) => file.endsWith('.production.js'));
    for (const file of files.map((file) => join(modules, name, 'cjs', file)))
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"${version}"`, `"${LINES.at(-1)}.99"`));
  }
  return version;
}
