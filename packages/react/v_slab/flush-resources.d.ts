import { type Hoistables, type Resources } from './resources.js';
import type { Sink } from './work.js';
/** All but what was hoisted, which the caller writes last. */
export declare function writeHeadResources(resources: Resources, sink: Sink): void;
export declare function writeLateResources(resources: Resources, sink: Sink): void;
/** Inline styles of a late boundary, kept from applying until it is shown; notes when anything has to be put into the head. */
export declare function writeStylesForBoundary(resources: Resources, sink: Sink, hoistables: Hoistables): void;
