// Routes that are asked for while something breaks.
import type { Route } from '../lib/load.ts';

/** `done` and a line feed: all that the app answers. */
const ANSWER_BYTES = 5;

/** GET and POST mixed, a fifth of them POST; each burns so many ms of CPU. */
export function mixedRoutes(ms: number): Route[] {
  const route = { path: `/?ms=${ms}`, answer_bytes: ANSWER_BYTES };
  return [
    { ...route, class: 'GET', weight: 80 },
    { ...route, class: 'POST', method: 'POST', body_bytes: 1_000, weight: 20 },
  ];
}
