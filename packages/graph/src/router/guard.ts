/** Decisions before a handler is called: which paths its route authorizes, and which values the schema takes. */
import type { Reporter } from './batch.js';
import type { SchemaChecks } from './checks.js';
import type { RouteContext } from './context.js';
import { errorLeaf, thrownLeaf } from './errors.js';
import type { Given } from './given.js';
import { ABSENT, type Leaf } from './graph.js';
import { singles } from './outputs.js';
import type { Authorization, Route } from './route.js';
import { joined, type Sets } from './sets.js';
import { matchedPath } from './syntax.js';
import type { Method } from './trie.js';

/** Paths that a handler is called for, and values of those that it is not called for. */
export interface Verdict {
  readonly granted: Sets[];
  readonly refused: readonly (readonly [region: Sets, leaf: Leaf])[];
}

const DENIED = errorLeaf('SLU-GRAPH-DENIED', 'Not allowed');

/** Whether an app allowed something. A promise that a function returned by mistake is no permission. */
export function isTrue(allowed: unknown): boolean {
  return allowed === true;
}

/** Asks a route whether the paths of a match may be used. A function that throws denies them. */
export async function authorize<Data>(
  route: Route<Data>,
  match: Sets,
  context: RouteContext<Data>,
  method: Method,
  reporter: Reporter<Data>,
): Promise<Verdict> {
  try {
    const given = route.handlers.authorize?.(matchedPath(route.steps, match), context, method);
    const allowed: Authorization | undefined = await given;
    if (isTrue(allowed)) return { granted: [match], refused: [] };
    const granted: Sets[] = [];
    const denied: Sets[] = [];
    if (typeof allowed === 'function') {
      for (const path of singles(match)) (isTrue(allowed(path)) ? granted : denied).push(path);
    } else denied.push(match);
    return { granted: joined(granted), refused: joined(denied).map((region) => [region, DENIED]) };
  } catch (error) {
    reporter.report(error, route, method);
    return { granted: [], refused: [[match, thrownLeaf(error)]] };
  }
}

/** Checks the values of a match that a client sets, and replaces them by what the schema makes of them. */
export async function check<Data>(
  checks: SchemaChecks,
  given: Given,
  match: Sets,
  route: Route<Data>,
  reporter: Reporter<Data>,
): Promise<Verdict> {
  const granted: Sets[] = [];
  const refused: [Sets, Leaf][] = [];
  for (const path of singles(match)) {
    try {
      const checked = await checks.value(path, given.leafAt(path) ?? ABSENT);
      if ('leaf' in checked) {
        given.replace(path, checked.leaf);
        granted.push(path);
      } else refused.push([path, checked.refusal]);
    } catch (error) {
      reporter.report(error, route, 'set');
      refused.push([path, thrownLeaf(error)]);
    }
  }
  return { granted: joined(granted), refused };
}
