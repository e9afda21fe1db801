/**
 * The state of one render, as react-dom divides it: a tree of segments (pieces of HTML, each finished at its own time), the Suspense boundaries
 * around them, and tasks that fill them. `Render` also holds the registers of the task that runs: they are fields of one object,
 * not module variables, because an object of this render is young and so cheap to write to.
 */
import type { Provided } from './contexts.js';
import type { Bytes } from './encode.js';
import type { FormatContext } from './format.js';
import type { HookHost } from './hooks.js';
import { type KeyPath, type StackNode } from './paths.js';
import { type Hoistables, type Preamble, type ResourceOptions, Resources } from './resources.js';
import type { Thenable } from './thenables.js';
import { type TreeId } from './tree-id.js';
export declare const PENDING = 0;
export declare const COMPLETED = 1;
export declare const FLUSHED = 2;
export declare const ABORTED = 3;
export declare const ERRORED = 4;
export declare const OPENING = 10;
export declare const OPEN = 11;
export declare const FAILED = 12;
export declare const CLOSED = 13;
export type Part = string | Bytes | Segment;
/** A stretch of HTML with places for others. */
export declare class Segment {
    status: number;
    parentFlushed: boolean;
    id: number;
    /** What is complete, in order; `out` follows it. */
    parts: Part[];
    out: string;
    preambleChildren: Segment[] | null;
    boundary: Boundary | null;
    readonly format: FormatContext;
    lastText: boolean;
    textEmbedded: boolean;
    /** UTF-8 length of its own HTML, as far as encoded. */
    bytes: number;
    constructor(boundary: Boundary | null, format: FormatContext, lastText: boolean, textEmbedded: boolean);
}
export declare class Boundary {
    status: number;
    rootSegmentId: number;
    parentFlushed: boolean;
    pendingTasks: number;
    byteSize: number;
    errorDigest: string | undefined;
    readonly completedSegments: Segment[];
    readonly content: Hoistables;
    readonly fallback: Hoistables;
    readonly fallbackTasks: Set<Task>;
    readonly preamble: {
        readonly content: Preamble;
        readonly fallback: Preamble;
    } | null;
    constructor(fallbackTasks: Set<Task>, holdsDocument: boolean);
}
export declare function emptyPreamble(): Preamble;
/** A place in the tree where rendering goes on later. */
export interface Task {
    node: unknown;
    index: number;
    readonly boundary: Boundary | null;
    readonly segment: Segment;
    readonly preamble: Preamble | null;
    readonly hoistables: Hoistables | null;
    readonly abortSet: Set<Task>;
    keyPath: KeyPath;
    stack: StackNode | null;
    format: FormatContext;
    contexts: Provided | null;
    treeId: TreeId;
    thenables: Thenable[] | null;
}
export interface ErrorInfo {
    componentStack?: string;
}
export interface RenderOptions extends ResourceOptions {
    progressiveChunkSize?: number | undefined;
    formState?: readonly unknown[] | null | undefined;
    onError?: ((error: unknown, info: ErrorInfo) => unknown) | undefined;
    onBrowserBailout?: ((error: unknown, info: ErrorInfo) => unknown) | undefined;
    onAllReady?: (() => void) | undefined;
    onShellReady?: (() => void) | undefined;
    onShellError?: ((error: unknown) => void) | undefined;
    onFatalError?: ((error: unknown) => void) | undefined;
}
/** Where HTML goes when it is flushed. */
export interface Sink {
    text(html: string): void;
    bytes(part: Bytes): void;
    /** Ends a turn of flushing: everything is handed on. */
    flush(): void;
    /** False when the reader has had enough for now. */
    hasCapacity(): boolean;
    end(): void;
    destroy(error: unknown): void;
}
export type Mode = 'string' | 'markup' | 'stream';
export declare class Render implements HookHost {
    out: string;
    lastText: boolean;
    /** True while no place has been passed at which react-dom would begin a new task: a suspension then is the whole task's. */
    chained: boolean;
    /** Static markup: no comments for the client. */
    readonly markup: boolean;
    readonly spillLength: number;
    depth: number;
    forks: number;
    format: FormatContext;
    /** The elements and nested arrays on the way from the task's root to here, with their places among their siblings. */
    readonly nodes: unknown[];
    readonly indexes: number[];
    readonly forkLengths: number[];
    readonly forkIndexes: number[];
    parts: Part[];
    segment: Segment;
    contexts: Provided | null;
    thenables: Thenable[] | null;
    boundary: Boundary | null;
    preamble: Preamble | null;
    hoistables: Hoistables | null;
    abortSet: Set<Task>;
    keyPath: KeyPath;
    stack: StackNode | null;
    treeId: TreeId;
    task: Task | null;
    readonly mode: Mode;
    status: number;
    aborted: boolean;
    /** Nothing has been said to the app or sent to the client: the render can still be left to react-dom. */
    mayFallBack: boolean;
    fatalError: unknown;
    sink: Sink | null;
    flushScheduled: boolean;
    nextSegmentId: number;
    allPendingTasks: number;
    pendingRootTasks: number;
    byteSize: number;
    completedRootSegment: Segment | null;
    completedPreambleSegments: Segment[][] | null;
    readonly abortableTasks: Set<Task>;
    readonly pingedTasks: Task[];
    readonly clientRenderedBoundaries: Boundary[];
    readonly completedBoundaries: Boundary[];
    readonly partialBoundaries: Boundary[];
    readonly resources: Resources;
    readonly progressiveChunkSize: number;
    readonly formState: readonly unknown[] | null;
    readonly onError: (error: unknown, info: ErrorInfo) => unknown;
    readonly onBrowserBailout: (error: unknown, info: ErrorInfo) => unknown;
    readonly onAllReady: () => void;
    readonly onShellReady: () => void;
    readonly onShellError: (error: unknown) => void;
    readonly onFatalError: (error: unknown) => void;
    /** Does what is due, on behalf of the API that the render was started by. */
    work: () => void;
    /** Ends with the render: what waits for the caller's abort signal is taken off it. */
    lifetime: AbortController | null;
    constructor(mode: Mode, format: FormatContext, options: RenderOptions);
    makeId(localId: number): string;
    currentTreeId(): TreeId;
    /** The path to the element at `depth` of the stack. */
    keyPathAt(depth: number): KeyPath;
    currentKeyPath(): KeyPath;
    stackAt(depth: number): StackNode | null;
    /** The length is one longer than `forks`: children of this array are at (length, index). */
    pushFork(length: number, index: number): void;
}
