/**
 * One run of the fuzzer, in a process of its own with NODE_ENV=production:
 *
 *   NODE_ENV=production node --import tsx test/differential/run.ts --trees 5000 [--seed N] [--path P] [--depth N]
 *     [--react FOLDER] [--apis a,b] [--mutant NAME]
 *
 * Prints what it found for people, and last a line of JSON for the test that started it. `--seed` with `--path`, as a
 * failure prints them, runs the shrunk tree alone.
 */

import { parseArgs } from 'node:util';
import { join } from 'node:path';
import fc from 'fast-check';
import { compare, shownDifference } from './compare.ts';
import { apis, type Api, type Scenario } from './description.ts';
import { scenarios } from './generate.ts';
import { loadReact, loadSluice } from './libraries.ts';
import { mutants } from './mutants.ts';
import type { Renderer } from './observe.ts';

/** What a run tells the test. */
export interface Report {
  readonly react: string;
  readonly seed: number;
  readonly trees: number;
  /** Renders by the renderer that is tried, all of them and those that it gave to react-dom, by reason. */
  readonly renders: number;
  readonly fallbacks: Readonly<Record<string, number>>;
  readonly failure: string | null;
}

const { values } = parseArgs({
  options: {
    trees: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    path: { type: 'string' },
    depth: { type: 'string', default: '4' },
    react: { type: 'string', default: join(import.meta.dirname, '../..') },
    apis: { type: 'string' },
    mutant: { type: 'string' },
  },
});
if (process.env['NODE_ENV'] !== 'production') throw new Error('run this with NODE_ENV=production');

const libraries = loadReact(values.react);
const fallbacks: Record<string, number> = {};
const tried = await renderer();
const chosen = values.apis === undefined ? apis : (values.apis.split(',') as Api[]);
let renders = 0;

const property = fc.asyncProperty(scenarios(Number(values.depth), chosen), async (scenario: Scenario) => {
  renders += 1;
  const difference = await compare(libraries.stock, tried, scenario, libraries);
  if (difference !== undefined) throw new Error(shownDifference(difference));
});
const details = await fc.check(property, {
  numRuns: Number(values.trees),
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  ...(values.path === undefined ? {} : { path: values.path }),
});

const failure = details.failed ? told(details) : null;
if (failure !== null) console.log(failure);
const report: Report = {
  react: libraries.version,
  seed: details.seed,
  trees: details.numRuns,
  renders,
  fallbacks,
  failure,
};
console.log(JSON.stringify(report));

async function renderer(): Promise<Renderer> {
  if (values.mutant !== undefined) {
    const mutant = mutants[values.mutant];
    if (mutant === undefined) throw new Error(`no mutant is called ${values.mutant}`);
    return mutant(libraries.stock);
  }
  const sluice = await loadSluice(values.react);
  sluice.onFallback(({ reason }) => {
    fallbacks[reason] = (fallbacks[reason] ?? 0) + 1;
  });
  return sluice;
}

function told(failed: fc.RunDetails<[Scenario]>): string {
  const again = [
    'NODE_ENV=production node --import tsx test/differential/run.ts',
    `--seed ${failed.seed} --path ${failed.counterexamplePath ?? ''} --trees ${values.trees} --depth ${values.depth}`,
    ...(values.react === join(import.meta.dirname, '../..') ? [] : [`--react ${values.react}`]),
    ...(values.apis === undefined ? [] : [`--apis ${values.apis}`]),
    ...(values.mutant === undefined ? [] : [`--mutant '${values.mutant}'`]),
  ].join(' ');
  const error = failed.errorInstance;
  return [
    `React ${libraries.version}: after ${failed.numRuns} trees and ${failed.numShrinks} shrinks, seed ${failed.seed}, path ${failed.counterexamplePath ?? ''}`,
    JSON.stringify(failed.counterexample?.[0]),
    error instanceof Error ? error.message : String(error),
    `Again, in packages/react: ${again}`,
  ].join('\n');
}
