/**
 * The fuzzer by hand, in `packages/react`:
 *
 *   node --import tsx test/differential/run.ts --trees 5000 [--seed N] [--path P] [--depth N] [--react FOLDER]
 *     [--apis renderToString,prerender] [--build commonjs] [--mutant NAME]
 *
 * `--seed` with `--path`, as a failure prints them, runs the shrunk tree alone.
 */

import { parseArgs } from 'node:util';
import type { Api } from './description.ts';
import { fuzz } from './fuzz.ts';

process.env['NODE_ENV'] = 'production';
const { values } = parseArgs({
  options: {
    trees: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    path: { type: 'string' },
    depth: { type: 'string', default: '4' },
    react: { type: 'string' },
    apis: { type: 'string' },
    build: { type: 'string' },
    mutant: { type: 'string' },
  },
});

const { failure, ...report } = await fuzz({
  trees: Number(values.trees),
  depth: Number(values.depth),
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  ...(values.path === undefined ? {} : { path: values.path }),
  ...(values.react === undefined ? {} : { react: values.react }),
  ...(values.apis === undefined ? {} : { apis: values.apis.split(',') as Api[] }),
  ...(values.build === 'commonjs' ? { build: values.build } : {}),
  ...(values.mutant === undefined ? {} : { mutant: values.mutant }),
});
console.log(report);
if (failure !== null) {
  console.log(failure);
  process.exitCode = 1;
}
