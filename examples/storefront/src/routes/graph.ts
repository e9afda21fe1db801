/** The graph over HTTP, for browsers. */

import type { Request, RequestHandler } from 'express';
import type { Router } from '@sluice/graph/router';
import { graphHandler } from '@sluice/graph/wire';
import { isShared } from '../graph/schema.js';
import type { Visitor, VisitorOf } from '../graph/visitor.js';

/** Browsers ask each time; what Sluice's page cache has is dropped when something of it is sold. */
const forAll = 'public, max-age=0, s-maxage=60';

/** Answers `/model.json`. Shared caches may keep an answer where all its paths are the same for every visitor. */
export function graphRoute(router: Router<Visitor>, visitorOf: VisitorOf): RequestHandler {
  return graphHandler(router, {
    // Under Express the server's own request is Express's.
    data: ({ raw }) => visitorOf(raw as Request),
    cacheControl: (paths) => (paths.every(isShared) ? forAll : undefined),
  }).express;
}
