/**
 * Invents sessions: most are one page, the others a few whose trees share what the component cache may keep, at other places,
 * within other contexts, by other APIs.
 */

import * as fc from 'fast-check';
import { apis, type Api, type Kept, type KeptAs, type Node, type Session } from './description.ts';
import { hooksOf } from './generate-hooks.ts';
import { apart, fitFor, leaf, roots, scenarios, treesUpTo } from './generate.ts';

const LIBRARY = 3;

/** `version`: of the React that they are for. */
export function sessions(depth: number, only: readonly Api[] = apis, version = ''): fc.Arbitrary<Session> {
  const single = scenarios(roots(depth), only, version).map((page): Session => ({
    library: [],
    pages: [{ ...page, changed: [] }],
  }));
  return fc.oneof({ weight: 5, arbitrary: single }, { weight: 1, arbitrary: keeping(depth, only, version) });
}

/** Those of several pages alone. */
export function keeping(depth: number, only: readonly Api[] = apis, version = ''): fc.Arbitrary<Session> {
  const library = fc.tuple(...Array.from({ length: LIBRARY }, (_, at) => kept(Math.max(depth - 2, 0), at)));
  const page = scenarios(roots(Math.max(depth - 1, 0), leavesWith(LIBRARY)), only);
  return fc
    .record({
      library,
      different: fc.array(page, { minLength: 1, maxLength: 2 }),
      visits: fc.array(visit, { minLength: 2, maxLength: 4 }),
    })
    .map(({ library: whole, different, visits }) => {
      const trees = fitFor(version, apart({ library: whole, roots: different.map(({ root }) => root) }));
      const pages = visits.map(({ at: any, changed, posted }) => {
        const at = any % different.length;
        // What is compiled for one page is for all: they have the library in common.
        const { compiled, outcomes } = different[0] as (typeof different)[0];
        const own = different[at] as (typeof different)[0];
        const formState = posted ? ('no-match' as const) : own.formState;
        return { ...own, root: trees.roots[at] ?? [], compiled, outcomes, changed, formState };
      });
      return { library: trees.library, pages };
    });
}

const visit = fc.record({
  at: fc.nat(1),
  changed: fc.uniqueArray(fc.nat(LIBRARY - 1), { maxLength: 1 }),
  /** A form was posted to the page this time. */
  posted: fc.constantFrom(false, false, true),
});

/** The one at this place in the library. */
function kept(depth: number, at: number): fc.Arbitrary<Kept> {
  const leaves = at === 0 ? leaf : leavesWith(at);
  return fc.record({
    hooks: fc.oneof({ weight: 3, arbitrary: hooksOf(false) }, { weight: 1, arbitrary: hooksOf(true) }),
    of: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: treesUpTo(depth, false, leaves) },
        { weight: 1, arbitrary: treesUpTo(depth, true, leaves) },
      ),
      { maxLength: 3 },
    ),
    lasts: fc.constantFrom('for good', 'for good', 'tagged', 'over'),
  });
}

/** Leaves of which many are one of the first `count` of the library. */
function leavesWith(count: number): fc.Arbitrary<Node> {
  const one = fc.record({
    k: fc.constant('kept' as const),
    at: fc.nat(count - 1),
    as: fc.constantFrom<KeptAs>('cacheKey', 'cacheKey', 'key', 'function', 'memo', 'forward-ref', 'class'),
    shows: fc.constantFrom('', '', 'a'),
  });
  return fc.oneof({ weight: 1, arbitrary: leaf }, { weight: 1, arbitrary: one });
}
