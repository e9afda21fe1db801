/** Model: reads and writes one JSON Graph through a cache, and asks a data source for what is missing. */
import { limitPaths, maxPaths as defaultMaxPaths, PathError, toPath, toPathSet } from '../paths/index.js';
import type {
  Answer,
  DataSource,
  Envelope,
  GraphValue,
  JsonGraph,
  Key,
  Path,
  PathInput,
  PathSet,
  PathValue,
} from '../types.js';
import type { Writer } from './cache.js';
import { type Json, nodeOf } from './json.js';
import { isWire } from './leaf.js';
import { BRANCH, type Node, pathOf } from './node.js';
import { Read } from './read.js';
import { missedBy, Reading, withoutErrors } from './reading.js';
import { envelopesOf, type Pace } from './requests.js';
import { Root } from './root.js';
import { type PathErrorValue, ReadErrors } from './errors.js';
import { Watcher } from './watch.js';
import { Write } from './write.js';

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

/** Options of one call. */
export interface CallOptions {
  /** Ends the call: its promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of a write. */
export interface SetOptions extends CallOptions {
  /** Whether values return to what they were if the data source fails, or answers errors in their place; true unless given. */
  readonly rollback?: boolean;
}

/** Values to write: one value at a path, JSON, or a graph. */
export type SetInput = PathValue | { readonly json: Json } | { readonly jsonGraph: JsonGraph };

interface View {
  readonly isBoxed: boolean;
  readonly takesErrors: boolean;
  readonly hasSource: boolean;
  readonly pace: Pace;
  /** Branch at which paths start. */
  readonly base: Node;
}

/** Root and settings of a view of a model that is there. */
class Inner {
  readonly root: Root;
  readonly view: View;

  constructor(root: Root, view: View) {
    this.root = root;
    this.view = view;
  }
}

/** View of a graph: its cache and its data source are shared by all views that come from one model. */
export class Model {
  readonly #root: Root;
  readonly #view: View;

  constructor(options: ModelOptions = {}) {
    if (options instanceof Inner) {
      this.#root = options.root;
      this.#view = options.view;
      return;
    }
    const { source, cache, maxSize = Infinity, collectRatio = 0.75, now = Date.now, onChange } = options;
    this.#root = new Root(source, { maxSize, collectRatio, now }, options.maxPaths ?? defaultMaxPaths);
    this.#view = {
      isBoxed: false,
      takesErrors: false,
      hasSource: source !== undefined,
      pace: 'tick',
      base: this.#root.cache.root,
    };
    if (cache !== undefined) this.setCache(cache);
    if (onChange !== undefined) this.onChange(onChange);
  }

  #with(view: Partial<View>): Model {
    return new Model(new Inner(this.#root, { ...this.#view, ...view }) as ModelOptions);
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
  batch(pace: number | ((send: () => void) => void) = 0): Model {
    return this.#with({ pace });
  }

  /** View whose requests are sent at once. */
  unbatch(): Model {
    return this.#with({ pace: 'now' });
  }

  /**
   * View whose paths start at a branch of JSON that a read gave.
   *
   * @throws PathError if the object is no branch of JSON of a model.
   */
  deref(json: unknown): Model {
    const node = nodeOf(json);
    if (node === undefined) throw new PathError('deref() takes a branch of JSON that a read of a model gave');
    return this.#with({ base: node });
  }

  /** Path at which the view's paths start. */
  getPath(): Path {
    return pathOf(this.#view.base);
  }

  /** Number that grows with each change of the cache. */
  getVersion(): number {
    return this.#root.cache.version;
  }

  /** Bytes that the cached values take, estimated. */
  getSize(): number {
    return this.#root.cache.bytes;
  }

  /** Whole cache as JSON Graph. */
  getCache(): JsonGraph {
    return this.#root.cache.export();
  }

  /** Replaces the whole cache. */
  setCache(jsonGraph: JsonGraph): void {
    const { cache } = this.#root;
    cache.invalidate([[]]);
    this.#root.requests?.outdate();
    cache.merge({ jsonGraph }, { id: 0, sentAt: Infinity, isOnce: false, fresh: [] });
    this.#root.settle();
  }

  /** Whether both are views of one cache. */
  isViewOf(other: Model): boolean {
    return this.#root === other.#root;
  }

  /** Number of local writes so far: what is asked for now does not know of later ones. */
  getMoment(): number {
    return this.#root.cache.moment;
  }

  /**
   * Takes values that came another way than by the data source: with a page, or pushed by a server. They replace older ones.
   *
   * @param moment - What `getMoment` gave when the values were asked for: values of later `set`s stay. Default: that of now.
   * @throws PathLimitError for a graph of more than 256 levels; PathError for a reference whose value is no path.
   */
  merge(envelope: Envelope, moment = this.getMoment()): void {
    const { cache } = this.#root;
    const writer = {
      id: this.#root.nextAnswerId(),
      sentAt: moment,
      isOnce: false,
      fresh: [] as Node[],
    };
    if ((envelope.invalidated?.length ?? 0) > 0) this.#root.requests?.outdate();
    cache.merge(envelope, writer);
    cache.drop(writer);
    this.#root.settle();
  }

  /**
   * State of the cache, without asking the data source.
   *
   * @throws PathError for what is no path set; PathLimitError for too many paths; ReferenceLoopError.
   */
  read<T = Json>(...paths: PathInput[]): Snapshot<T> {
    const read = this.#readNow(this.#pathSets(paths));
    const json = read.hasValue ? (read.json as T) : undefined;
    return { json, missing: missedBy(read), errors: read.errors };
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
    const [paths, { signal }] = splitOptions(input);
    return this.#envelope(await this.#complete(this.#pathSets(paths), signal));
  }

  /**
   * Values at the path sets as they arrive: what is there each time that a part of an answer brings some, and everything at the end. Ends
   * and throws as `get` does.
   */
  async *stream<T = Json>(
    ...input: [...PathInput[], CallOptions] | PathInput[]
  ): AsyncGenerator<JsonEnvelope<T>, void, undefined> {
    const [paths, { signal }] = splitOptions(input);
    let part: Read | undefined;
    let isDone = false;
    let wake: () => void = () => undefined;
    const reading = this.#start(this.#pathSets(paths), signal, (read) => {
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
        const envelope = part === undefined ? undefined : this.#envelope<T>(part, false);
        part = undefined;
        if (envelope !== undefined) yield envelope;
        // oxlint-disable-next-line no-unmodified-loop-condition -- A part may have come while the last was read.
        if (part === undefined && !isDone) await new Promise<void>((resolve) => (wake = resolve));
      }
      const envelope = this.#envelope<T>(await reading.whole);
      if (envelope !== undefined) yield envelope;
    } finally {
      reading.leave();
    }
  }

  /** Value at one path, undefined if nothing is there. Rejects as `get` does. */
  async getValue<T = unknown>(path: PathInput, { signal }: CallOptions = {}): Promise<T | undefined> {
    const keys = toPath(path);
    return valueAt(withoutErrors(await this.#complete([keys], signal)).json, keys) as T | undefined;
  }

  /**
   * Writes values: to the cache at once, and to the data source, whose answer replaces them.
   *
   * @returns Promise of the values written. It rejects with what the data source rejects with, and as `get` does.
   */
  async set<T = Json>(
    ...input: [...SetInput[], SetOptions] | SetInput[]
  ): Promise<JsonEnvelope<T> | undefined> {
    const [values, options] = splitSetOptions(input);
    return this.#envelope(await this.#set(values.flatMap(valuesOf), options));
  }

  /** Writes one value, and returns what the data source has made of it. */
  async setValue<T = unknown>(
    path: PathInput,
    value: PathValue['value'],
    options: SetOptions = {},
  ): Promise<T | undefined> {
    const keys = toPath(path);
    return valueAt(withoutErrors(await this.#set([{ path: keys, value }], options)).json, keys) as
      T | undefined;
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
    const { source, cache } = this.#root;
    if (source?.call === undefined || !this.#view.hasSource)
      throw new Error('The data source takes no calls');
    const base = this.getPath();
    const writer = {
      id: this.#root.nextAnswerId(),
      sentAt: cache.moment,
      isOnce: false,
      fresh: [] as Node[],
    };
    const answer = source.call(
      [...base, ...toPath(path)],
      args,
      refSuffixes.map(toPathSet),
      thisPaths.map(toPathSet),
      signalOptions(signal),
    );
    const paths: PathSet[] = [];
    await this.#take(answer, signal, (envelope) => {
      // An answer that drops values makes those in flight old.
      if ((envelope.invalidated?.length ?? 0) > 0) this.#root.requests?.outdate();
      cache.merge(envelope, writer);
      for (const pathSet of envelope.paths ?? [])
        if (startsWith(pathSet, base)) paths.push(pathSet.slice(base.length));
      this.#root.tell();
    });
    limitPaths(paths, this.#root.maxPaths);
    return this.#envelope(this.#finish(paths, writer));
  }

  /** Reads what an answer has brought, and drops what was to be read once. */
  #finish(pathSets: readonly PathSet[], writer: Writer): Read {
    try {
      return this.#readNow(pathSets);
    } finally {
      this.#root.cache.drop(writer);
      this.#root.settle();
    }
  }

  /** Drops what the cache holds at path sets, and below them. Answers on their way are given to their readers, and not cached. */
  invalidate(...paths: PathInput[]): void {
    const base = this.getPath();
    this.#root.requests?.outdate();
    this.#root.cache.invalidate(paths.map((path) => [...base, ...toPathSet(path)]));
    this.#root.settle();
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
    const pathSets = this.#pathSets(paths).map((pathSet) => [...base, ...pathSet]);
    const { watching } = this.#root.cache;
    const watcher = new Watcher(pathSets, listener);
    watching.add(watcher);
    return () => watching.remove(watcher);
  }

  #pathSets(paths: readonly PathInput[]): PathSet[] {
    const pathSets = paths.map(toPathSet);
    limitPaths(pathSets, this.#root.maxPaths);
    return pathSets;
  }

  #readNow(pathSets: readonly PathSet[]): Read {
    const { cache } = this.#root;
    const read = new Read(cache, this.#view.isBoxed, this.#view.takesErrors);
    const { base } = this.#view;
    if (base.isLive) return read.run(pathSets, base);
    const start = this.#findBase();
    if (start !== undefined) return read.run(pathSets, start);
    for (const pathSet of pathSets) read.missing.push([...pathOf(base), ...pathSet]);
    return read;
  }

  /** Branch at the path of the view's base, whose node has left the cache. */
  #findBase(): Node | undefined {
    const found: Node[] = [];
    this.#root.cache.find([...pathOf(this.#view.base), null], found);
    return found[0]?.kind === BRANCH ? found[0] : undefined;
  }

  #complete(pathSets: readonly PathSet[], signal: AbortSignal | undefined): Promise<Read> {
    return this.#start(pathSets, signal).whole;
  }

  #start(
    pathSets: readonly PathSet[],
    signal: AbortSignal | undefined,
    onPart?: (read: Read) => void,
  ): { readonly whole: Promise<Read>; readonly leave: () => void } {
    const { requests } = this.#root;
    const first = this.#readNow(pathSets);
    if (first.missing.length === 0 || requests === undefined || !this.#view.hasSource) {
      const whole =
        signal?.aborted === true ? Promise.reject<Read>(signal.reason as Error) : Promise.resolve(first);
      return { whole, leave: () => undefined };
    }
    onPart?.(first);
    const reading = new Reading(() => this.#readNow(pathSets), requests, this.#view.pace, signal, onPart);
    return { whole: reading.start(first), leave: () => reading.fail(undefined) };
  }

  #envelope<T>(read: Read, isWhole = true): JsonEnvelope<T> | undefined {
    if (isWhole) withoutErrors(read);
    return read.hasValue ? { json: read.json as T } : undefined;
  }

  async #set(values: readonly PathValue[], { signal, rollback = true }: SetOptions): Promise<Read> {
    signal?.throwIfAborted();
    const { cache, source } = this.#root;
    const pathSets = this.#pathSets(values.map(({ path }) => path));
    const isSent = this.#view.hasSource && source?.set !== undefined;
    const write = new Write(cache, this.#root.nextWriteId(), isSent);
    try {
      for (const [at, { value }] of values.entries())
        write.set(this.#startOfWrite(), pathSets[at] as PathSet, value);
    } catch (error) {
      write.rollBack();
      this.#root.settle();
      throw error;
    }
    const envelope = isSent ? write.envelope() : undefined;
    if (envelope === undefined) this.#root.tell();
    else this.#root.settle();
    if (envelope !== undefined && source?.set !== undefined) {
      const refused: PathErrorValue[] = [];
      try {
        const answer = source.set(envelope, signalOptions(signal));
        await this.#take(answer, signal, (part) => {
          cache.merge(part, write);
          // Before anybody is told: a component that reads an error shows it.
          if (rollback) refused.push(...write.takeBackRefused());
          this.#root.tell();
        });
      } catch (error) {
        if (rollback) write.rollBack();
        else write.confirm();
        this.#root.settle();
        throw error;
      }
      write.confirm();
      if (refused.length > 0) throw new ReadErrors(refused, this.#finish(pathSets, write).json);
    }
    return this.#finish(pathSets, write);
  }

  #startOfWrite(): Node {
    const { base } = this.#view;
    if (base.isLive) return base;
    let node = this.#findBase();
    if (node === undefined) {
      node = this.#root.cache.root;
      for (const key of pathOf(base)) node = this.#root.cache.enter(node, key);
    }
    return node;
  }

  /** Takes the envelopes of an answer until its end, or until the signal aborts. */
  async #take(
    answer: Answer,
    signal: AbortSignal | undefined,
    take: (envelope: Envelope) => void,
  ): Promise<void> {
    const envelopes = envelopesOf(answer);
    try {
      for (;;) {
        const step = await unlessAborted(envelopes.next(), signal);
        if (step.done === true) return;
        take(step.value);
      }
    } catch (error) {
      envelopes.return(undefined).catch(() => undefined);
      this.#root.settle();
      throw error;
    }
  }
}

/** The promise, or a rejection when the signal aborts before. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function signalOptions(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function splitOptions(input: readonly (PathInput | CallOptions)[]): [PathInput[], CallOptions] {
  const last = input.at(-1);
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last);
  return [(hasOptions ? input.slice(0, -1) : input) as PathInput[], hasOptions ? (last as CallOptions) : {}];
}

function splitSetOptions(input: readonly (SetInput | SetOptions)[]): [SetInput[], SetOptions] {
  const last = input.at(-1);
  const hasOptions = last !== undefined && !('path' in last || 'json' in last || 'jsonGraph' in last);
  return [(hasOptions ? input.slice(0, -1) : input) as SetInput[], hasOptions ? last : {}];
}

/** Values of one argument of `set`. */
function valuesOf(input: SetInput): PathValue[] {
  if ('path' in input) return [input];
  const values: PathValue[] = [];
  const isWhole = 'json' in input ? (value: unknown) => isWire(value) || Array.isArray(value) : isWire;
  collect('json' in input ? input.json : input.jsonGraph, [], isWhole, values);
  return values;
}

function collect(
  value: unknown,
  path: Key[],
  isWhole: (value: unknown) => boolean,
  values: PathValue[],
): void {
  toPath(path);
  if (isWhole(value)) values.push({ path: [...path], value: value as GraphValue });
  else
    for (const [key, inner] of Object.entries(value as Json)) collect(inner, [...path, key], isWhole, values);
}

function valueAt(json: Json, path: Path): unknown {
  let value: unknown = json;
  for (const [at, key] of path.entries()) {
    if (key === null && at === path.length - 1) break;
    // A value before the end of the path is the value.
    if (nodeOf(value) === undefined) break;
    value = Object.hasOwn(value as Json, String(key)) ? (value as Json)[String(key)] : undefined;
  }
  return nodeOf(value) === undefined ? value : undefined;
}

function startsWith(pathSet: PathSet, base: Path): boolean {
  return base.every((key, at) => String(pathSet[at] as Key) === String(key));
}
