/** Runs many scenarios through react-dom and the renderer that is tried, until one differs. */

import { join, resolve } from 'node:path';
import * as fc from 'fast-check';
import { compare, shownDifference } from './compare.ts';
import { apis, type Api, type Scenario } from './description.ts';
import { scenarios } from './generate.ts';
import { loadReact, loadSluice, type Pair } from './libraries.ts';
import { mutants } from './mutants.ts';
import type { Renderer } from './observe.ts';

export const packageFolder = join(import.meta.dirname, '../..');

export interface FuzzOptions {
  readonly trees: number;
  /** Chosen at random when not given; a failure prints it. */
  readonly seed?: number;
  /** With the seed: the shrunk tree of a failure alone. */
  readonly path?: string;
  readonly depth?: number;
  /** The folder whose React is used. */
  readonly react?: string;
  readonly apis?: readonly Api[];
  /** One of `mutants` instead of Sluice. */
  readonly mutant?: string;
}

export interface Report {
  readonly react: string;
  readonly seed: number;
  readonly trees: number;
  /** By the renderer that is tried; the string APIs render each tree twice. */
  readonly renders: number;
  /** Those of them that were given to react-dom, by reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
  /** What people need to see and to run again, or null. */
  readonly failure: string | null;
}

/** The process must have had `NODE_ENV=production` before anything loaded React. */
export async function fuzz(options: FuzzOptions): Promise<Report> {
  if (process.env['NODE_ENV'] !== 'production') throw new Error('NODE_ENV has to be production');
  const { trees, depth = 4 } = options;
  const react = resolve(options.react ?? packageFolder);
  const libraries = loadReact(react);
  const fallbacks: Record<string, number> = {};
  const { renderer, stop } = await rendererOf(options.mutant, react, libraries, fallbacks);

  let renders = 0;
  const property = fc.asyncProperty(scenarios(depth, options.apis ?? apis), async (scenario: Scenario) => {
    const difference = await compare(libraries.stock, renderer, scenario, libraries);
    renders += scenario.api.startsWith('renderToSt') ? 2 : 1;
    if (difference !== undefined) throw new Error(shownDifference(difference));
  });
  const details = await fc.check(property, {
    numRuns: trees,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.path === undefined ? {} : { path: options.path }),
  });
  stop();
  return {
    react: libraries.version,
    seed: details.seed,
    trees: details.numRuns,
    renders,
    fallbacks,
    failure: details.failed ? told(details, { ...options, depth, react }, libraries.version) : null,
  };
}

async function rendererOf(
  mutant: string | undefined,
  react: string,
  libraries: Pair,
  fallbacks: Record<string, number>,
): Promise<{ renderer: Renderer; stop: () => void }> {
  if (mutant !== undefined) {
    const make = mutants[mutant];
    if (make === undefined) throw new Error(`no mutant is called ${mutant}`);
    return { renderer: make(libraries.stock), stop: () => undefined };
  }
  const sluice = await loadSluice(react);
  const stop = sluice.onFallback(({ reason }) => {
    fallbacks[reason] = (fallbacks[reason] ?? 0) + 1;
  });
  // What this version's react-dom lacks there is nothing to compare with. And the one warning about a version that is
  // unknown is no difference: the share that fell back tells.
  const { warn } = console;
  console.warn = () => undefined;
  sluice.renderToString(null);
  console.warn = warn;
  const has = (name: string): boolean => name in libraries.stock;
  const renderer = Object.fromEntries(
    apis.filter(has).map((name) => [name, sluice[name]]),
  ) as unknown as Renderer;
  return { renderer, stop };
}

function told(
  failed: fc.RunDetails<[Scenario]>,
  options: FuzzOptions & { depth: number; react: string },
  version: string,
): string {
  const path = failed.counterexamplePath ?? '';
  const again = [
    'node --import tsx test/differential/run.ts',
    `--seed ${failed.seed} --path ${path} --trees ${options.trees} --depth ${options.depth}`,
    ...(options.react === packageFolder ? [] : [`--react ${options.react}`]),
    ...(options.apis === undefined ? [] : [`--apis ${options.apis.join()}`]),
    ...(options.mutant === undefined ? [] : [`--mutant '${options.mutant}'`]),
  ].join(' ');
  const error = failed.errorInstance;
  return [
    `React ${version}: after ${failed.numRuns} trees and ${failed.numShrinks} shrinks, seed ${failed.seed}, path ${path}`,
    JSON.stringify(failed.counterexample?.[0]),
    error instanceof Error ? error.message : String(error),
    `Again, in packages/react: ${again}`,
  ].join('\n');
}
