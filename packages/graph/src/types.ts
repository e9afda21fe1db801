/** Types of JSON Graph and of the path sets that address it. */

/** Name of one step of a path. Numbers and their decimal strings name the same step: `0` is `'0'`. */
export type Key = string | number | boolean | null;

/** Consecutive integers from `from` (0 unless given) to `to`, both included, or `length` integers from `from`. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
  readonly length?: number;
}

/** One key, one range, or a list of both. */
export type KeySet = Key | Range | readonly (Key | Range)[];

/** Path to one value. */
export type Path = readonly Key[];

/** Paths that are equal but for the keys of their steps. */
export type PathSet = readonly KeySet[];

/** Path set, or its text such as `lists[0..9].title`. */
export type PathInput = string | PathSet;

/** Metadata that a value in a graph may carry. */
export interface Metadata {
  /**
   * Time at which the value expires, in milliseconds since 1970. A negative number counts milliseconds from its arrival. With 0 it expires
   * at once, but the reads that wait for it still get it. With 1 it never expires.
   */
  readonly $expires?: number;
  /** Version of the value, milliseconds since 1970. A cache keeps the newer of two values. */
  readonly $timestamp?: number;
  /** Bytes that the value counts for in a bounded cache; estimated unless given. */
  readonly $size?: number;
}

/** Value that is read as a whole. Without `value` it says that nothing is there. */
export interface Atom<T = unknown> extends Metadata {
  readonly $type: 'atom';
  readonly value?: T;
}

/** Link to another place of the same graph. */
export interface Ref extends Metadata {
  readonly $type: 'ref';
  readonly value: Path;
}

/** Error that was met instead of a value. */
export interface GraphError<T = unknown> extends Metadata {
  readonly $type: 'error';
  readonly value: T;
}

/** Values that JSON Graph adds to JSON. */
export type Sentinel = Atom | Ref | GraphError;

/** Value that JSON Graph writes without a wrapper. */
export type Primitive = string | number | boolean | null;

/** Value at the end of a path. */
export type GraphValue = Primitive | Sentinel | undefined;

/** Graph, or a part of it. */
export interface JsonGraph {
  readonly [key: string]: JsonGraph | GraphValue;
}

/** Part of a graph, as data sources take and answer it. */
export interface Envelope {
  readonly jsonGraph: JsonGraph;
  /** Path sets whose values the graph holds. */
  readonly paths?: readonly PathSet[];
  /** Path sets whose values caches have to drop before they take the graph. */
  readonly invalidated?: readonly PathSet[];
  /** Values beside the graph, for the application. */
  readonly context?: unknown;
}

/** Value and the paths that it is for. */
export interface PathValue {
  readonly path: PathInput;
  readonly value: GraphValue | object;
}

/** Answer of a data source: one envelope, or parts of the answer in the order of their arrival. */
export type Answer = Promise<Envelope> | AsyncIterable<Envelope>;

/** Options of one request to a data source. */
export interface SourceOptions {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
  /** Places of the path sets whose values the browser's page came with, where the server counts them. */
  readonly held?: readonly number[];
}

/** Place that answers what a model's cache does not hold: a router, or a connection to one. */
export interface DataSource {
  get(paths: readonly PathSet[], options?: SourceOptions): Answer;
  set?(envelope: Envelope, options?: SourceOptions): Answer;
  call?(
    path: Path,
    args: readonly unknown[],
    refSuffixes: readonly PathSet[],
    thisPaths: readonly PathSet[],
    options?: SourceOptions,
  ): Answer;
}
