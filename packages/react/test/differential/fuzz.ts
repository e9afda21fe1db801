/** Runs many scenarios through react-dom and the renderer that is tried, until one differs. */

import { join, resolve } from 'node:path';
import * as fc from 'fast-check';
import { compare, nodesOf, shownDifference, type Side } from './compare.ts';
import { loadCompiler, type Compiler } from './compiled.ts';
import { apis, type Api, type Page, type Session } from './description.ts';
import { mayBeLeft, reasonsOnce, type Left } from './fallbacks.ts';
import { keeping, sessions } from './generate-kept.ts';
import { loadAltered, loadReact, loadSluice, type Build, type Pair, type Sluice } from './libraries.ts';
import { cacheMutants, mutants, templateMutants } from './mutants.ts';
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
  /** Of Sluice. */
  readonly build?: Build;
  /** One of `mutants`, `templateMutants` or `cacheMutants` instead of Sluice as it is. */
  readonly mutant?: string;
  /** False where it is enough to know that there is a failure. */
  readonly shrinks?: boolean;
}

export interface Report {
  readonly react: string;
  readonly seed: number;
  readonly trees: number;
  /** By the renderer that is tried; the string APIs render each tree twice. */
  readonly renders: number;
  /** That the compiler made of the trees it was given. */
  readonly templates: number;
  /** Renders that were given to react-dom, by reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
  /** Of the component cache. */
  readonly hits: number;
  /** What people need to see and to run again, or null. */
  readonly failure: string | null;
}

/** The renderer that is tried, and what it left to react-dom since it was asked last. */
interface Tried {
  readonly side: Side;
  /** Undefined for a renderer that would only read templates as ordinary elements. */
  readonly compiler: Compiler | undefined;
  readonly taken: () => readonly Left[];
  /** Of its component cache. */
  readonly hits: () => number;
  readonly stop: () => void;
}

/** The process must have had `NODE_ENV=production` before anything loaded React. */
export async function fuzz(options: FuzzOptions): Promise<Report> {
  if (process.env['NODE_ENV'] !== 'production') throw new Error('NODE_ENV has to be production');
  const { trees, depth = 4 } = options;
  const react = resolve(options.react ?? packageFolder);
  const libraries = loadReact(react);
  const { side, compiler, taken, hits, stop } = await triedWith(options, react, libraries);

  let renders = 0;
  const fallbacks: Record<string, number> = {};
  // Nothing else shows a fault of the component cache.
  const generate = (options.mutant ?? '') in cacheMutants ? keeping : sessions;
  const property = fc.asyncProperty(
    generate(depth, options.apis ?? apis, libraries.version),
    async (session: Session) => {
      const { library, pages } = session;
      const compiled = pages[0]?.compiled
        ? await compiler?.compiled(pages.flatMap((page) => nodesOf(page, library)))
        : undefined;
      taken();
      const compared = (page: Page): void => {
        renders += page.api.startsWith('renderToSt') ? 2 : 1;
        for (const each of taken()) {
          const known = reasonsOnce.includes(each.reason) && each.reason in fallbacks;
          if (known || !mayBeLeft(each, { ...page, root: nodesOf(page, library) }, libraries.version))
            throw new Error(`left to react-dom: ${each.reason}`);
          fallbacks[each.reason] = (fallbacks[each.reason] ?? 0) + 1;
        }
      };
      const actual = { ...side, compiled };
      const difference = await compare({ renderer: libraries.stock }, actual, session, libraries, compared);
      if (difference !== undefined) throw new Error(shownDifference(difference));
    },
  );
  const details = await fc.check(property, {
    numRuns: trees,
    endOnFailure: options.shrinks === false,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.path === undefined ? {} : { path: options.path }),
  });
  stop();
  return {
    react: libraries.version,
    seed: details.seed,
    trees: details.numRuns,
    renders,
    templates: compiler?.templates() ?? 0,
    hits: hits(),
    fallbacks,
    failure: details.failed ? told(details, { ...options, depth, react }, libraries.version) : null,
  };
}

async function triedWith({ mutant, build }: FuzzOptions, react: string, libraries: Pair): Promise<Tried> {
  const altered = mutant === undefined ? undefined : mutants[mutant];
  if (altered !== undefined)
    return {
      side: { renderer: altered(libraries.stock) },
      compiler: undefined,
      taken: () => [],
      hits: () => 0,
      stop: () => undefined,
    };
  const change = mutant === undefined ? undefined : templateMutants[mutant];
  const alteration = mutant === undefined ? undefined : cacheMutants[mutant];
  if (mutant !== undefined && change === undefined && alteration === undefined)
    throw new Error(`no mutant is called ${mutant}`);

  const sluice = await (alteration === undefined ? loadSluice(react, build) : loadAltered(react, alteration));
  await warmUp(sluice, libraries);
  let left: Left[] = [];
  const stop = sluice.onFallback((about) => left.push(about));
  // What this version's react-dom lacks there is nothing to compare with.
  const has = (name: string): boolean => name in libraries.stock;
  const renderer = Object.fromEntries(
    apis.filter(has).map((name) => [name, sluice[name]]),
  ) as unknown as Renderer;
  const taken = (): readonly Left[] => {
    const all = left;
    left = [];
    return all;
  };
  const before = sluice.cacheStatistics().hits;
  return {
    side: { renderer, purge: (tag) => void sluice.purge(tag) },
    compiler: await loadCompiler(react, build, change),
    taken,
    hits: () => sluice.cacheStatistics().hits - before,
    stop,
  };
}

/**
 * What happens once in the life of a process is no difference: the warning about a version that is unknown, loading
 * `react-dom/static`, learning the client's scripts.
 */
async function warmUp(sluice: Sluice, { React, stock }: Pair): Promise<void> {
  const { warn } = console;
  console.warn = () => undefined;
  const element = React.createElement('i');
  sluice.renderToString(element);
  await new Promise<void>((resolve) => {
    sluice.renderToPipeableStream(element, { onAllReady: resolve });
  });
  if ('prerender' in stock) await sluice.prerender?.(element);
  console.warn = warn;
}

function told(
  failed: fc.RunDetails<[Session]>,
  options: FuzzOptions & { depth: number; react: string },
  version: string,
): string {
  const path = failed.counterexamplePath ?? '';
  const again = [
    'node --import tsx test/differential/run.ts',
    `--seed ${failed.seed} --path ${path} --depth ${options.depth}`,
    ...(options.react === packageFolder ? [] : [`--react ${options.react}`]),
    ...(options.apis === undefined ? [] : [`--apis ${options.apis.join()}`]),
    ...(options.build === undefined ? [] : [`--build ${options.build}`]),
    ...(options.mutant === undefined ? [] : [`--mutant '${options.mutant}'`]),
  ].join(' ');
  const error = failed.errorInstance;
  return [
    `React ${version}: after ${failed.numRuns} trees and ${failed.numShrinks} shrinks, seed ${failed.seed}, path ${path}`,
    JSON.stringify(failed.counterexample?.[0]),
    error instanceof Error ? error.message : String(error),
    `Again, in packages/react: ${again}`,
    // What an earlier tree left behind in react-dom or in Sluice is not there when a tree is run alone.
    `If it passes alone, with all trees before it: ${again.replace(` --path ${path}`, ` --trees ${failed.numRuns}`)}`,
  ].join('\n');
}
