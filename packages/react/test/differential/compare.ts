/** Two renderers, one scenario: what differs between what their callers see. */

import type { CompiledTree } from './compiled.ts';
import type { Scenario } from './description.ts';
import { cutMark } from './record.ts';
import { clearLeftovers, observe, type Observation, type Renderer } from './observe.ts';
import type { Libraries } from './world.ts';

export interface Difference {
  readonly expected: Observation;
  readonly actual: Observation;
}

/** `compiled`: what `actual` gets in the place of the tree's host elements. */
export async function compare(
  expected: Renderer,
  actual: Renderer,
  scenario: Scenario,
  libraries: Libraries,
  compiled?: CompiledTree,
): Promise<Difference | undefined> {
  const formState = await formStateFor(scenario, expected, libraries);
  const look = async (renderer: Renderer, from: Libraries): Promise<Observation> => {
    await clearLeftovers(expected, libraries);
    return observe(renderer, scenario, from, formState);
  };
  const compiledLibraries = compiled === undefined ? libraries : { ...libraries, compiled };
  const observed = {
    expected: await look(expected, libraries),
    actual: await look(actual, compiledLibraries),
  };
  return same(observed.expected, observed.actual) ? undefined : observed;
}

function same(one: Observation, other: Observation): boolean {
  return one.length === other.length && one.every((line, index) => sameLine(line, other[index] ?? ''));
}

function sameLine(one: string, other: string): boolean {
  return one === other || (one.includes(cutMark) && (one.startsWith(other) || other.startsWith(one)));
}

/** The lines around the first that differs, for people. */
export function shownDifference({ expected, actual }: Difference): string {
  const at = expected.findIndex((line, index) => !sameLine(line, actual[index] ?? ''));
  const first = at === -1 ? expected.length : at;
  return [
    ...expected.slice(0, first).map((line) => `  both     ${JSON.stringify(line)}`),
    ...expected.slice(first).map((line) => `- expected ${JSON.stringify(line)}`),
    ...actual.slice(first).map((line) => `+ actual   ${JSON.stringify(line)}`),
  ].join('\n');
}

/** What a posted form brings back: [state, key, action id, count of bound arguments]. */
async function formStateFor(scenario: Scenario, renderer: Renderer, libraries: Libraries): Promise<unknown> {
  switch (scenario.formState) {
    case 'none':
      return null;
    case 'no-match':
      return ['posted', 'kother', 'id', 0];
    case 'permalink':
      return ['posted', 'p/p', 'id', 0];
    case 'key-path': {
      // The key is a hash of a path through the tree: take one from a render without state.
      if (!JSON.stringify(scenario.root).includes('"action-state"')) return ['posted', 'kother', 'id', 0];
      const api = 'renderToPipeableStream';
      const lines = await observe(
        renderer,
        { ...scenario, api, formState: 'none', flow: 'shell' },
        libraries,
      );
      const key = /name="\$ACTION_KEY" value="([^"]*)"/.exec(lines.join('\n'))?.[1];
      return ['posted', key ?? 'kother', 'id', 0];
    }
  }
}
