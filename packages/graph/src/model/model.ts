/** Model: reads and writes one JSON Graph through a cache, and asks a data source for what is missing. */
import { collapse, maxPaths as defaultMaxPaths, PathError, toPath, toPathSet } from '../paths/index.js';
import type { DataSource, Envelope, JsonGraph, Path, PathInput, PathSet, PathValue } from '../types.js';
import { Writer } from './cache.js';
import type { PathErrorValue } from './errors.js';
import { type CallOptions, type SetInput, type SetOptions, splitOptions, valuesOf } from './input.js';
import { type Json, nodeOf } from './json.js';
import type { Read } from './read.js';
import { Reading, withoutErrors } from './reading.js';
import { atOnce, inTick, type Pace } from './requests.js';
import { Root } from './root.js';
import { sendCall, sendValues } from './sending.js';
import { sizeOf } from './size.js';
import { type Settings, View } from './view.js';
import { Watcher } from './watch.js';

/** Options of a model. */
export interface ModelOptions {
  /** Source of values that the cache does not hold. Without one, such values are left out. */
  readonly source?: DataSource;
  /** Graph to start with. */
  readonly cache?: JsonGraph;
  /** Bytes that values may take, estimated, before the least recently used are dropped; without bound unless given. */
  readonly maxSize?: number;
  /** Part of `maxSize`, 0 to 1, down to which values are dropped then; 0.75 unless given. */
  readonly collectRatio?: number;
  /** Largest number of paths that one call may stand for; 100,000 unless given. */
  readonly maxPaths?: number;
  /** Function that is called after each change of the cache. */
  readonly onChange?: () => void;
  /** Clock, milliseconds since 1970; `Date.now` unless given. */
  readonly now?: () => number;
}

/** JSON of a read. */
export interface JsonEnvelope<T = Json> {
  readonly json: T;
}

/** State of the cache at path sets. */
export interface Snapshot<T = Json> {
  /** Values that are there; undefined if there are none. */
  readonly json: T | undefined;
  /** Path sets to ask the data source for, behind the references that the cache holds. */
  readonly missing: readonly PathSet[];
  readonly errors: readonly PathErrorValue[];
}

/** View of a graph: its cache and its data source are shared by all views that come from one model. */
export class Model {
  readonly #root: Root;
  readonly #view: View;

  constructor(options: ModelOptions = {}) {
    if (options instanceof View) {
      this.#root = options.root;
      this.#view = options;
      return;
    }
    const { source, cache, maxSize = Infinity, collectRatio = 0.75, now = Date.now, onChange } = options;
    const { maxPaths = defaultMaxPaths } = options;
    this.#root = new Root(source, { maxSize, collectRatio, now }, maxPaths);
    this.#view = new View(this.#root, {
      isBoxed: false,
      takesErrors: false,
      hasSource: true,
      pace: inTick,
      base: this.#root.cache.root,
    });
    if (cache !== undefined) this.setCache(cache);
    if (onChange !== undefined) this.onChange(onChange);
  }

  #with(settings: Partial<Settings>): Model {
    return new Model(new View(this.#root, { ...this.#view.settings, ...settings }) as ModelOptions);
  }

  /** View that reads and writes the cache alone. */
  withoutDataSource(): Model {
    return this.#with({ hasSource: false });
  }

  /** View whose values come with their wrappers: `{ $type, value, … }`. */
  boxValues(): Model {
    return this.#with({ isBoxed: true });
  }

  /** View whose values come without their wrappers. */
  unboxValues(): Model {
    return this.#with({ isBoxed: false });
  }

  /** View whose reads give errors as values instead of rejecting. */
  treatErrorsAsValues(): Model {
    return this.#with({ takesErrors: true });
  }

  /**
   * View whose requests are collected for a time and sent as one.
   *
   * @param pace - Milliseconds from the first, 0 for the next turn of the event loop; or a function that is called with the first, and calls
   *   what it is given when the request is to be sent.
   */
  batch(pace: Pace = 0): Model {
    return this.#with({ pace });
  }

  /** View whose requests are sent at once. */
  unbatch(): Model {
    return this.#with({ pace: atOnce });
  }

  /**
   * View whose paths start at a branch of JSON that a read gave.
   *
   * @throws PathError if the object is no branch of JSON of a model.
   */
  deref(json: unknown): Model {
    const node = nodeOf(json);
    if (node === undefined) throw new PathError('deref() needs JSON of a read');
    return this.#with({ base: node });
  }

  /** Path at which the view's paths start. */
  getPath(): Path {
    return this.#view.path();
  }

  /** Number that grows with each change of the cache. */
  getVersion(): number {
    return this.#root.cache.version;
  }

  /** Bytes that the cached values take, estimated. Takes time by the number of values where the model has no `maxSize`. */
  getSize(): number {
    const { bytes, root, uses } = this.#root.cache;
    return uses.isBounded ? bytes : sizeOf(root);
  }

  /** Whole cache as JSON Graph. */
  getCache(): JsonGraph {
    return this.#root.cache.export();
  }

  /** Replaces the whole cache. */
  setCache(jsonGraph: JsonGraph): void {
    this.#replace(jsonGraph, [[]]);
  }

  /** Whether both are views of one cache. No for a model of another copy of this package. */
  isViewOf(other: Model): boolean {
    return #root in other && this.#root === other.#root;
  }

  /** Number of local writes and of values of calls so far: what is asked for now does not know of later ones. */
  getMoment(): number {
    return this.#root.cache.moment;
  }

  /** Number of invalidations so far, by the app and by calls: an answer that was asked for before one is old. 0 without a data source. */
  getInvalidations(): number {
    return this.#root.requests?.outdates ?? 0;
  }

  /**
   * Takes values that came another way than by the data source: with a page, or pushed by a server. They replace older ones.
   *
   * @param moment - What `getMoment` gave when the values were asked for: values of later `set`s and `call`s stay. Default: that of now.
   * @throws PathLimitError for a graph of more than 256 levels; PathError for a reference whose value is no path.
   */
  merge(envelope: Envelope, moment = this.getMoment()): void {
    const writer = new Writer(-this.#root.nextId(), moment);
    try {
      this.#root.merge(envelope, writer);
    } finally {
      this.#root.drop(writer);
    }
  }

  /**
   * State of the cache, without asking the data source.
   *
   * @throws PathError for what is no path set; PathLimitError for too many paths; ReferenceLoopError.
   */
  read<T = Json>(...paths: PathInput[]): Snapshot<T> {
    const read = this.#view.read(this.#view.pathSets(paths));
    const json = read.hasValue ? (read.json as T) : undefined;
    return { json, missing: collapse(read.missing), errors: read.errors };
  }

  /**
   * Values at the path sets, undefined if there are none. Values that the cache does not hold are asked for.
   *
   * @returns Promise. It rejects with ReadErrors if some values are errors, with UnansweredError if the data source leaves out values, with
   *   what the data source rejects with, and with PathError, PathLimitError or ReferenceLoopError.
   */
  async get<T = Json>(
    ...input: [...PathInput[], CallOptions] | PathInput[]
  ): Promise<JsonEnvelope<T> | undefined> {
    const [paths, { signal }] = splitOptions<PathInput, CallOptions>(input);
    return envelopeOf(await this.#complete(this.#view.pathSets(paths), signal));
  }

  /**
   * Values at the path sets as they arrive: what is there each time that a part of an answer brings some, and everything at the end. Ends
   * and throws as `get` does.
   */
  async *stream<T = Json>(
    ...input: [...PathInput[], CallOptions] | PathInput[]
  ): AsyncGenerator<JsonEnvelope<T>, void, undefined> {
    const [paths, { signal }] = splitOptions<PathInput, CallOptions>(input);
    let part: Read | undefined;
    let isDone = false;
    let wake: () => void = () => undefined;
    const reading = new Reading(this.#view, this.#view.pathSets(paths), signal, (read) => {
      part = read;
      wake();
    });
    const end = (): void => {
      isDone = true;
      wake();
    };
    reading.whole.then(end, end);
    try {
      while (!isDone) {
        const envelope = part === undefined ? undefined : jsonIn<T>(part);
        part = undefined;
        if (envelope !== undefined) yield envelope;
        // oxlint-disable-next-line no-unmodified-loop-condition -- A part may have come while the last was read.
        if (part === undefined && !isDone) await new Promise<void>((resolve) => (wake = resolve));
      }
      const envelope = envelopeOf<T>(await reading.whole);
      if (envelope !== undefined) yield envelope;
    } finally {
      reading.fail(undefined);
    }
  }

  /** Value at one path, undefined if nothing is there. Rejects as `get` does. */
  async getValue<T = unknown>(path: PathInput, { signal }: CallOptions = {}): Promise<T | undefined> {
    const keys = toPath(path);
    return valueAt(await this.#complete([keys], signal), keys) as T | undefined;
  }

  /**
   * Writes values: to the cache at once, and to the data source, whose answer replaces them.
   *
   * @returns Promise of the values written. It rejects with what the data source rejects with, and as `get` does.
   */
  async set<T = Json>(
    ...input: [...SetInput[], SetOptions] | SetInput[]
  ): Promise<JsonEnvelope<T> | undefined> {
    const [values, options] = splitOptions<SetInput, SetOptions>(input);
    return envelopeOf(await sendValues(this.#view, values.flatMap(valuesOf), options));
  }

  /** Writes one value, and returns what the data source has made of it. */
  async setValue<T = unknown>(
    path: PathInput,
    value: PathValue['value'],
    options: SetOptions = {},
  ): Promise<T | undefined> {
    const keys = toPath(path);
    return valueAt(await sendValues(this.#view, [{ path: keys, value }], options), keys) as T | undefined;
  }

  /**
   * Calls a function of the graph at the data source.
   *
   * @param path - Path of the function.
   * @param args - Arguments.
   * @param refSuffixes - Path sets to read at each reference that the function returns.
   * @param thisPaths - Path sets to read at the object that the function is of.
   * @returns Promise of the values at the paths that the data source answered. Rejects as `get` does.
   */
  async call<T = Json>(
    path: PathInput,
    args: readonly unknown[] = [],
    refSuffixes: readonly PathInput[] = [],
    thisPaths: readonly PathInput[] = [],
    { signal }: CallOptions = {},
  ): Promise<JsonEnvelope<T> | undefined> {
    const suffixes = refSuffixes.map(toPathSet);
    const paths = thisPaths.map(toPathSet);
    return envelopeOf(await sendCall(this.#view, toPath(path), args, suffixes, paths, signal));
  }

  /** Drops what the cache holds at path sets, and below them. Answers on their way are given to their readers, and not cached. */
  invalidate(...paths: PathInput[]): void {
    const base = this.getPath();
    this.#replace(
      {},
      paths.map((path) => [...base, ...toPathSet(path)]),
    );
  }

  /**
   * Calls a listener after each change of the cache. It is not called when values expire or are dropped for the bound.
   *
   * @returns Function that ends this.
   */
  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.#root.listeners.add(own);
    return () => void this.#root.listeners.delete(own);
  }

  /**
   * Calls a listener after each change of values at path sets, or of the references that lead to them. Where a branch on the way appears,
   * the listener may be called without such a change.
   *
   * @returns Function that ends this.
   */
  subscribe(paths: readonly PathInput[], listener: () => void): () => void {
    const base = this.getPath();
    const pathSets = this.#view.pathSets(paths).map((pathSet) => [...base, ...pathSet]);
    const { watching } = this.#root.cache;
    const watcher = new Watcher(pathSets, listener);
    watching.add(watcher);
    return () => watching.remove(watcher);
  }

  #replace(jsonGraph: JsonGraph, invalidated: readonly PathSet[]): void {
    this.#root.merge({ jsonGraph, invalidated }, new Writer(0, Infinity));
    this.#root.settle();
  }

  #complete(pathSets: readonly PathSet[], signal: AbortSignal | undefined): Promise<Read> {
    return new Reading(this.#view, pathSets, signal).whole;
  }
}

/**
 * JSON of a read that has ended.
 *
 * @throws ReadErrors if some values are errors.
 */
function envelopeOf<T>(read: Read): JsonEnvelope<T> | undefined {
  return jsonIn(withoutErrors(read));
}

function jsonIn<T>({ hasValue, json }: Read): JsonEnvelope<T> | undefined {
  return hasValue ? { json: json as T } : undefined;
}

/** Value at one path of a read that has ended. A value before the end of the path is the value. */
function valueAt(read: Read, path: Path): unknown {
  const { json } = withoutErrors(read);
  let value: unknown = path.length > 0 ? json : undefined;
  for (const key of path) {
    if (nodeOf(value) === undefined) return value;
    value = Object.hasOwn(value as Json, String(key)) ? (value as Json)[String(key)] : undefined;
  }
  return value;
}
