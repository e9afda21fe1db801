import { type Hoistables, type Resources } from './resources.js';
import type { Sink } from './work.js';
export { formReplayScript } from './client-scripts.js';
export declare function writeCompletedSegment(resources: Resources, sink: Sink, segmentId: number): void;
export declare function writeCompletedBoundary(resources: Resources, sink: Sink, rootSegmentId: number, content: Hoistables): void;
export declare function writeClientRender(resources: Resources, sink: Sink, rootSegmentId: number, digest: string | undefined): void;
