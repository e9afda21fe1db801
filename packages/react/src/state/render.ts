/**
 * The state of one render, as react-dom divides it: a tree of segments (pieces of HTML, each finished at its own time), Suspense
 * boundaries, and tasks. `Render` also holds the registers of the task that runs. They are fields of one object, not module variables,
 * because a young object is cheap to write to.
 */
import type { Provided } from './contexts.js';
import type { Bytes } from '../facts/encode.js';
import { logError } from '../facts/log-error.js';
import type { FormatContext } from '../facts/format.js';
import type { HookHost } from './running.js';
import { type KeyPath, type StackNode, keyPathOf, stackOf } from './paths.js';
import {
  type Hoistables,
  type Preamble,
  type ResourceOptions,
  Resources,
  createHoistables,
} from './resources.js';
import type { Thenable } from '../facts/thenables.js';
import { ROOT_ID, type TreeId, forkedId, spellId } from '../facts/tree-id.js';
import { profile } from '../facts/profile.js';

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

export type Part = string | Bytes | Segment;

/** A stretch of HTML with places for others. */
export class Segment {
  status = PENDING;
  parentFlushed = false;
  id = -1;
  /** Complete parts, in order; `out` follows them. */
  parts: Part[] = [];
  out = '';
  preambleChildren: Segment[] | null = null;
  boundary: Boundary | null;
  readonly format: FormatContext;
  lastText: boolean;
  textEmbedded: boolean;

  constructor(boundary: Boundary | null, format: FormatContext, lastText: boolean, textEmbedded: boolean) {
    this.boundary = boundary;
    this.format = format;
    this.lastText = lastText;
    this.textEmbedded = textEmbedded;
  }
}

export class Boundary {
  status = PENDING;
  /** Number by which the client finds it. */
  id = -1;
  rootSegmentId = -1;
  parentFlushed = false;
  pendingTasks = 0;
  byteSize = 0;
  errorDigest: string | undefined;
  readonly completedSegments: Segment[] = [];
  readonly content: Hoistables = createHoistables();
  readonly fallback: Hoistables = createHoistables();
  readonly fallbackTasks: Set<Task>;
  readonly preamble: { readonly content: Preamble; readonly fallback: Preamble } | null;

  constructor(fallbackTasks: Set<Task>, holdsDocument: boolean) {
    this.fallbackTasks = fallbackTasks;
    this.preamble = holdsDocument ? { content: emptyPreamble(), fallback: emptyPreamble() } : null;
  }
}

export function emptyPreamble(): Preamble {
  return { html: null, head: null, body: null, contribution: 0 };
}

/** A place in the tree where rendering resumes later. One that is new is where the renderer is now. */
export class Task {
  node: unknown;
  index: number;
  readonly segment: Segment;
  boundary: Boundary | null;
  preamble: Preamble | null;
  hoistables: Hoistables | null;
  abortSet: Set<Task>;
  keyPath: KeyPath;
  stack: StackNode | null;
  format: FormatContext;
  contexts: Provided | null;
  treeId: TreeId;
  thenables: Thenable[] | null = null;
  /** True if it resumes where something was waited for. */
  suspended = false;
  /** HTML to keep for the component cache, if any. */
  keeping: Keeping | null = null;

  constructor(
    render: Render,
    node: unknown,
    index: number,
    segment: Segment,
    keyPath: KeyPath,
    stack: StackNode | null,
  ) {
    this.node = node;
    this.index = index;
    this.segment = segment;
    this.boundary = render.boundary;
    this.preamble = render.preamble;
    this.hoistables = render.hoistables;
    this.abortSet = render.abortSet;
    this.keyPath = keyPath;
    this.stack = stack;
    this.format = render.format;
    this.contexts = render.contexts;
    this.treeId = render.currentTreeId();
  }
}

/** Done to the document when HTML is used again, as it was when it was made. */
export interface Effect {
  readonly again: (render: Render) => void;
  /** Approximate memory, bytes. */
  readonly bytes: number;
}

/** A subtree that is rendered to be kept, as those know it who render it; the component cache knows more. */
export interface Recording {
  readonly effects: Effect[];
  readonly tags: Set<string>;
  usesIds: boolean;
  usesPromise: boolean;
  failed: boolean;
  /** The task that all of it was left to. */
  later: Task | null;
  /** Nothing has been written yet. */
  isEmpty(render: Render): boolean;
}

/** HTML that is being rendered to be kept, until it is complete. */
export interface Keeping {
  readonly recording: Recording;
}

/** Fork in React 18 (`loose-forks.ts`): a step that a component made, where its children are, and which fork it is. */
export interface LooseFork {
  readonly depth: number;
  readonly fork: number;
}

export interface ErrorInfo {
  componentStack?: string;
}

/** An error that the app was told, and the digest that it gave for it. */
export interface ToldError {
  readonly error: unknown;
  readonly digest: unknown;
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

/** Destination of HTML when it is flushed. */
export interface Sink {
  text(html: string): void;
  /** Writes like `text`, but the reader gets it in a chunk of its own. */
  apart(html: string): void;
  bytes(part: Bytes): void;
  /** Gives the reader what has been gathered. */
  handOn(): void;
  /** Ends a turn of flushing: everything is handed on, and the reader is asked to do so too. */
  flush(): void;
  /** False when the reader has had enough for now. */
  hasCapacity(): boolean;
  end(): void;
  destroy(error: unknown): void;
}

export type Mode = 'string' | 'markup' | 'stream';

const PROGRESSIVE_CHUNK_BYTES = 12_800;
/** Length of HTML in one string before it is encoded: large enough to be cheap, small enough to stay in the cache. */
const SPILL_LENGTH = 4096;

function nothing(): void {
  // A callback that was not given.
}

const [ID_START, ID_ROOT, ID_END] = profile.idMarks;

export class Render implements HookHost {
  // Registers of the task that runs, the hottest first.
  out = '';
  lastText = false;
  /** True while no place has been passed at which react-dom would begin a new task: a suspension then is the whole task's. */
  chained = false;
  /** Everything is waited for before anything is sent. */
  prerenders = false;
  /** Static markup: no comments for the client. */
  readonly markup: boolean;
  /** Parts are encoded as they are made, while they are in the processor's cache. */
  readonly encodes: boolean;
  /** HTML this long is made a part; unlimited while a subtree is recorded. */
  spillLength: number;
  /** The innermost subtree that is rendered for the component cache. */
  recording: Recording | null = null;
  /** HTML to keep of the last component that threw. */
  unfinished: Keeping | null = null;
  /** Number of calls of resource functions outside of a component's turn, as those make that are functions with an `await`. */
  effectsBetweenTurns = 0;
  /** Number of purges of the component cache when the render began. */
  purges = 0;
  depth = 0;
  forks = 0;
  format: FormatContext;
  /** The elements and nested arrays on the way from the task's root to here, with their places among their siblings. */
  nodes: unknown[] = [];
  readonly indexes: number[] = [];
  readonly forkLengths: number[] = [];
  readonly forkIndexes: number[] = [];
  readonly looseForks: LooseFork[] = [];
  parts: Part[] = [];
  segment!: Segment;
  contexts: Provided | null = null;
  thenables: Thenable[] | null = null;
  boundary: Boundary | null = null;
  preamble: Preamble | null = null;
  hoistables: Hoistables | null = null;
  abortSet: Set<Task>;
  keyPath: KeyPath = null;
  stack: StackNode | null = null;
  treeId: TreeId = ROOT_ID;
  task: Task | null = null;

  // The render as a whole.
  readonly mode: Mode;
  status = OPENING;
  aborted = false;
  /** The app has heard that all is ready. */
  isComplete = false;
  /**
   * True while nothing has been sent to the client, and the app has heard of errors alone: the render can still fall back to
   * react-dom.
   */
  mayFallBack = true;
  /** Errors that the app has been told meanwhile: it hears nothing of them twice. */
  readonly toldErrors: ToldError[] = [];
  fatalError: unknown = null;
  sink: Sink | null = null;
  flushScheduled = false;
  nextSegmentId = 0;
  nextBoundaryId = 0;
  allPendingTasks = 0;
  pendingRootTasks = 0;
  byteSize = 0;
  completedRootSegment: Segment | null = null;
  completedPreambleSegments: Segment[][] | null = null;
  readonly abortableTasks = new Set<Task>();
  readonly pingedTasks: Task[] = [];
  readonly clientRenderedBoundaries: Boundary[] = [];
  readonly completedBoundaries: Boundary[] = [];
  readonly partialBoundaries: Boundary[] = [];
  readonly resources: Resources;
  readonly progressiveChunkSize: number;
  readonly formState: readonly unknown[] | null;
  readonly onError: (error: unknown, info: ErrorInfo) => unknown;
  readonly onBrowserBailout: (error: unknown, info: ErrorInfo) => unknown;
  readonly onAllReady: () => void;
  readonly onShellReady: () => void;
  readonly onShellError: (error: unknown) => void;
  readonly onFatalError: (error: unknown) => void;
  /** Runs what is due, on behalf of the API that the render was started by. */
  work: (render: Render) => void = nothing;
  /** Finishes a task that was aborted, and whose awaited promise has failed since. */
  finishAborted: (render: Render, task: Task, error: unknown) => void = nothing;
  /** Ends with the render: what waits for the caller's abort signal is taken off it. */
  lifetime: AbortController | null = null;

  /** `encodes`: HTML is wanted as bytes. */
  constructor(mode: Mode, format: FormatContext, options: RenderOptions, encodes = mode === 'stream') {
    this.mode = mode;
    this.markup = mode === 'markup';
    this.encodes = encodes;
    this.spillLength = encodes ? SPILL_LENGTH : Number.POSITIVE_INFINITY;
    this.format = format;
    this.abortSet = this.abortableTasks;
    this.resources = new Resources(options);
    this.progressiveChunkSize = options.progressiveChunkSize ?? PROGRESSIVE_CHUNK_BYTES;
    this.formState = options.formState ?? null;
    const onError = options.onError ?? logError;
    this.onError =
      profile.reports === 'components' ? onError : (error) => (onError as (error: unknown) => unknown)(error);
    this.onBrowserBailout = options.onBrowserBailout ?? nothing;
    this.onAllReady = options.onAllReady ?? nothing;
    this.onShellReady = options.onShellReady ?? nothing;
    this.onShellError = options.onShellError ?? nothing;
    this.onFatalError = options.onFatalError ?? nothing;
  }

  makeId(localId: number): string {
    if (this.recording !== null) this.recording.usesIds = true;
    const tree = spellId(this.currentTreeId());
    const local = localId > 0 ? `H${localId.toString(32)}` : '';
    return ID_START + this.resources.idPrefix + ID_ROOT + tree + local + ID_END;
  }

  currentTreeId(): TreeId {
    return forkedId(this.treeId, this.forkLengths, this.forkIndexes, this.forks);
  }

  /** The path to the element at `depth` of the stack. */
  keyPathAt(depth: number): KeyPath {
    return keyPathOf(this.keyPath, this.nodes, this.indexes, depth);
  }

  currentKeyPath(): KeyPath {
    this.notCacheable();
    return this.keyPathAt(this.depth);
  }

  endLifetime(): void {
    this.lifetime?.abort('The render ended.');
  }

  /** Everything has been sent. Timers and listeners may hold the render for longer: they are not to hold the page with it. */
  release(): void {
    this.nodes = [];
    this.parts = [];
    this.segment.parts = this.parts;
    this.contexts = null;
    this.boundary = null;
    this.hoistables = null;
    this.stack = null;
    this.keyPath = null;
    this.work = nothing;
  }

  /** Marks the HTML around as belonging to this render: it is not used again. */
  notCacheable(): void {
    if (this.recording !== null) this.recording.failed = true;
  }

  /** Marks HTML as that of a promise's value; its use again is up to the component that wants it kept. */
  usesPromise(): void {
    if (this.recording !== null) this.recording.usesPromise = true;
  }

  stackAt(depth: number): StackNode | null {
    return stackOf(this.stack, this.nodes, depth);
  }

  /** The length is one longer than `forks`: children of this array are at (length, index). */
  pushFork(length: number, index: number): void {
    this.forkLengths[this.forks] = length;
    this.forkIndexes[this.forks] = index;
    this.forks += 1;
  }
}
