import { type Resource, type Resources } from './resources.js';
/** The render a call belongs to. */
export interface ResourceTarget {
    readonly resources: Resources;
    /** Asks for a flush of what has been added, when nothing else will bring one. */
    enqueueFlush(): void;
}
export declare function installResourceFunctions(target: () => ResourceTarget | null): void;
/** The resource itself is here: its preload, when not yet written, is not needed any more. */
export declare function overtake(preloadOfIt: Resource | undefined): boolean;
