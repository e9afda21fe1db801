/**
 * What may be left to react-dom. It is right there too, but slow, and nobody would notice: so each tree says whether it
 * may be, and one that was left without need is a failure like one that differs.
 */

import type { Api, Scenario } from './description.ts';

export interface Left {
  readonly reason: string;
  readonly api: string;
}

const isString = (api: Api): boolean => api.startsWith('renderToSt');

/** `version`: of the React that was used. */
export function mayBeLeft({ reason, api }: Left, scenario: Scenario, version: string): boolean {
  if (api !== scenario.api) return false;
  const minor = version.split('.', 2).join('.');
  switch (reason) {
    // Its postponed state is react-dom's own.
    case 'prerender with a signal':
      return scenario.api.startsWith('prerender') && scenario.abortAt !== null;
    // An experiment, which only some builds export.
    case 'SuspenseList':
      return !/^19\.[01]$/.test(minor) && JSON.stringify(scenario.root).includes('"as":"list-');
    // Until they are learnt, which the first that needs them begins.
    case 'client scripts not known yet':
      return isString(scenario.api);
    default:
      return false;
  }
}

/** The reasons that are good for some trees of a process only, however many it renders. */
export const reasonsOnce: readonly string[] = ['client scripts not known yet'];
