import { keyPathOf, stackOf } from './paths.js';
import { Resources, createHoistables, } from './resources.js';
import { ROOT_ID, forkedId, spellId } from './tree-id.js';
// States of segments; boundaries use PENDING, COMPLETED and ERRORED (then the client renders them).
export const PENDING = 0;
export const COMPLETED = 1;
export const FLUSHED = 2;
export const ABORTED = 3;
export const ERRORED = 4;
// States of renders.
export const OPENING = 10;
export const OPEN = 11;
export const FAILED = 12;
export const CLOSED = 13;
/** A stretch of HTML with places for others. */
export class Segment {
    status = PENDING;
    parentFlushed = false;
    id = -1;
    /** What is complete, in order; `out` follows it. */
    parts = [];
    out = '';
    preambleChildren = null;
    boundary;
    format;
    lastText;
    textEmbedded;
    /** UTF-8 length of its own HTML, as far as encoded. */
    bytes = 0;
    constructor(boundary, format, lastText, textEmbedded) {
        this.boundary = boundary;
        this.format = format;
        this.lastText = lastText;
        this.textEmbedded = textEmbedded;
    }
}
export class Boundary {
    status = PENDING;
    rootSegmentId = -1;
    parentFlushed = false;
    pendingTasks = 0;
    byteSize = 0;
    errorDigest;
    completedSegments = [];
    content = createHoistables();
    fallback = createHoistables();
    fallbackTasks;
    preamble;
    constructor(fallbackTasks, holdsDocument) {
        this.fallbackTasks = fallbackTasks;
        this.preamble = holdsDocument ? { content: emptyPreamble(), fallback: emptyPreamble() } : null;
    }
}
export function emptyPreamble() {
    return { html: null, head: null, body: null };
}
const PROGRESSIVE_CHUNK_BYTES = 12_800;
/** How much HTML may stand in one string before it is encoded: large enough to be cheap, small enough to stay in the cache. */
const SPILL_LENGTH = 4096;
function nothing() {
    // A callback that was not given.
}
export class Render {
    // Registers of the task that runs, the hottest first.
    out = '';
    lastText = false;
    /** True while no place has been passed at which react-dom would begin a new task: a suspension then is the whole task's. */
    chained = false;
    /** Static markup: no comments for the client. */
    markup;
    spillLength;
    depth = 0;
    forks = 0;
    format;
    /** The elements and nested arrays on the way from the task's root to here, with their places among their siblings. */
    nodes = [];
    indexes = [];
    forkLengths = [];
    forkIndexes = [];
    parts = [];
    segment;
    contexts = null;
    thenables = null;
    boundary = null;
    preamble = null;
    hoistables = null;
    abortSet;
    keyPath = null;
    stack = null;
    treeId = ROOT_ID;
    task = null;
    // The render as a whole.
    mode;
    status = OPENING;
    aborted = false;
    /** Nothing has been said to the app or sent to the client: the render can still be left to react-dom. */
    mayFallBack = true;
    fatalError = null;
    sink = null;
    flushScheduled = false;
    nextSegmentId = 0;
    allPendingTasks = 0;
    pendingRootTasks = 0;
    byteSize = 0;
    completedRootSegment = null;
    completedPreambleSegments = null;
    abortableTasks = new Set();
    pingedTasks = [];
    clientRenderedBoundaries = [];
    completedBoundaries = [];
    partialBoundaries = [];
    resources;
    progressiveChunkSize;
    formState;
    onError;
    onBrowserBailout;
    onAllReady;
    onShellReady;
    onShellError;
    onFatalError;
    /** Does what is due, on behalf of the API that the render was started by. */
    work = nothing;
    /** Ends with the render: what waits for the caller's abort signal is taken off it. */
    lifetime = null;
    constructor(mode, format, options) {
        this.mode = mode;
        this.markup = mode === 'markup';
        this.spillLength = 4096;
        this.format = format;
        this.resources = new Resources(options);
        this.progressiveChunkSize = options.progressiveChunkSize ?? PROGRESSIVE_CHUNK_BYTES;
        this.formState = options.formState ?? null;
        this.onError = options.onError ?? logError;
        this.onBrowserBailout = options.onBrowserBailout ?? nothing;
        this.onAllReady = options.onAllReady ?? nothing;
        this.onShellReady = options.onShellReady ?? nothing;
        this.onShellError = options.onShellError ?? nothing;
        this.onFatalError = options.onFatalError ?? nothing;
    }
    makeId(localId) {
        const tree = spellId(this.currentTreeId());
        return `_${this.resources.idPrefix}R_${tree}${localId > 0 ? `H${localId.toString(32)}` : ''}_`;
    }
    currentTreeId() {
        return forkedId(this.treeId, this.forkLengths, this.forkIndexes, this.forks);
    }
    /** The path to the element at `depth` of the stack. */
    keyPathAt(depth) {
        return keyPathOf(this.keyPath, this.nodes, this.indexes, depth);
    }
    currentKeyPath() {
        return this.keyPathAt(this.depth);
    }
    stackAt(depth) {
        return stackOf(this.stack, this.nodes, depth);
    }
    /** The length is one longer than `forks`: children of this array are at (length, index). */
    pushFork(length, index) {
        this.forkLengths[this.forks] = length;
        this.forkIndexes[this.forks] = index;
        this.forks += 1;
    }
}
function logError(error) {
    console.error(error);
    return null;
}
//# sourceMappingURL=work.js.map