/**
 * One request: its paths are matched with routes, whose handlers are called once for all paths of a level; references in their results make
 * the paths of the next level. A level waits only for handlers whose results may have references in the middle of a path. It must not know HTTP.
 */
import type { DataSource, Envelope, PathSet, Ref } from '../types.js';
import type { SchemaChecks } from './checks.js';
import type { RequestContext } from './context.js';
import { errorLeaf, routeError, thrownLeaf, type RouteError } from './errors.js';
import {
  ABSENT,
  asJsonGraph,
  breakLoop,
  fill,
  fillKeys,
  Fresh,
  newBranch,
  targetOf,
  walk,
  type Branch,
  type Leaf,
  type Visitor,
} from './graph.js';
import type { Given } from './given.js';
import { Outputs, singles, writeAt, type Refusing } from './outputs.js';
import type { Authorization, Route, RouteOutput, RouteParts } from './route.js';
import { joined, overlaps, pathSetOf, split, type Keys, type PlainKey, type Sets } from './sets.js';
import type { RouteEvent } from './stats.js';
import type { OnPart } from './parts.js';
import { matchedPath } from './syntax.js';
import type { Method, Piece, Trie } from './trie.js';

/** Bounds of one request. */
export interface Limits {
  /** Bounds the paths of a request after expansion. Default: 10,000. */
  readonly pathsMax: number;
  /** Bounds the steps of a path. Default: 64. */
  readonly depthMax: number;
  /** Bounds the references that a path goes through. Default: 50. */
  readonly referencesMax: number;
  /** Bounds the calls of handlers. Default: 1,000. */
  readonly callsMax: number;
  /** Bounds the time of a request, ms. Default: 30,000. */
  readonly timeoutMs: number;
}

/** Parts of a router that its requests share. */
export interface Core<Data> {
  readonly trie: Trie<Route<Data>>;
  readonly checks: SchemaChecks | undefined;
  readonly limits: Limits;
  readonly unhandled: DataSource | undefined;
  readonly onError: (error: unknown, place: { readonly route: string; readonly method: Method }) => void;
  readonly onRoute: ((event: RouteEvent) => void) | undefined;
}

/** Paths of one route that are asked for together. */
class Batch<Data> {
  /** Undefined for paths that no route matches. */
  readonly route: Route<Data> | undefined;
  readonly method: Method;
  /** Whole paths, of which the route matches the first steps. */
  readonly pieces: Sets[];
  /** Paths that wait because their first steps are being fetched. */
  readonly waiting: Sets[] = [];
  open = 0;
  isBlocking = false;

  constructor(route: Route<Data> | undefined, method: Method, pieces: Sets[]) {
    this.route = route;
    this.method = method;
    this.pieces = pieces;
  }
}

export class Run<Data> implements Visitor, Broken {
  readonly asksBranches = false;
  readonly graph: Branch = newBranch();
  readonly #core: Core<Data>;
  readonly #context: RequestContext<Data>;
  readonly #outputs: Outputs;
  readonly #given: Given | undefined;
  readonly #onPart: OnPart | undefined;
  readonly #sent: Branch | undefined;
  readonly #inflight = new Set<Batch<Data>>();
  /** Messages of the data source for unhandled paths: a later path may find its value there. */
  readonly #spare: object[] = [];
  #method: Method;
  #ready: Sets[] = [];
  #blocking = 0;
  #level = 0;
  #calls = 0;
  #isFlushing = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  /** Function that a call has come to. */
  function: Piece<Route<Data>> | undefined;

  constructor(
    core: Core<Data>,
    context: RequestContext<Data>,
    method: Method,
    { given, onPart }: { readonly given?: Given | undefined; readonly onPart?: OnPart | undefined } = {},
  ) {
    this.#core = core;
    this.#context = context;
    this.#method = method;
    this.#outputs = new Outputs(this.graph, core.limits);
    this.#given = given;
    this.#onPart = onPart;
    this.#sent = onPart === undefined ? undefined : newBranch();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get outputs(): Outputs {
    return this.#outputs;
  }

  /** Gets paths, and resolves when all have values. Rejects with what `fail` is given. */
  async resolve(paths: Sets[], method: Method = this.#method): Promise<void> {
    this.#method = method;
    for (const sets of paths) this.#ready.push(sets);
    await new Promise<void>((resolve, reject) => {
      this.#end = { resolve, reject };
      this.#flush();
      if (this.#end !== undefined) this.#startTimer();
    });
  }

  /** Waits for a result within the time of the request. */
  async during<T>(result: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#end = { resolve: () => undefined, reject };
      this.#startTimer();
      result.then(resolve, reject);
    });
  }

  /** Ends the request with an error. Results that come later are dropped. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    const end = this.#end;
    this.#end = undefined;
    this.#close(error);
    end?.reject(error);
  }

  /** Frees what the request holds. To be called at its end. */
  dispose(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #close(reason: unknown): void {
    this.dispose();
    this.#context.abort(reason);
  }

  answer(): Envelope {
    return { jsonGraph: asJsonGraph(this.graph) };
  }

  #startTimer(): void {
    const { timeoutMs } = this.#core.limits;
    this.#timer ??= setTimeout(() => this.#expire(), timeoutMs);
  }

  /** Gives an error to all paths that are still without a value. */
  #expire(): void {
    if (this.#isClosed) return;
    const message = `No value came within ${this.#core.limits.timeoutMs} ms`;
    if (this.#method === 'call') {
      this.fail(routeError('SLU-GRAPH-TIME', message));
      return;
    }
    const late = errorLeaf('SLU-GRAPH-TIME', message);
    const paths = [...this.#ready];
    for (const batch of this.#inflight) {
      paths.push(...batch.waiting, ...batch.pieces);
    }
    const missing = this.#known(paths);
    for (const sets of missing) fill(this.graph, sets, 0, late);
    this.#emit(missing);
    this.#close(routeError('SLU-GRAPH-TIME', message));
    this.#finish();
  }

  #finish(): void {
    const end = this.#end;
    this.#end = undefined;
    end?.resolve();
  }

  /** Starts the next level, once nothing that may add to it is under way. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      while (this.#ready.length > 0 && this.#blocking === 0 && !this.#isClosed) {
        const ready = this.#ready;
        this.#ready = [];
        this.#level++;
        this.#launch(this.#known(ready));
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isFlushing = false;
    }
    if (this.#inflight.size === 0 && this.#ready.length === 0 && !this.#isClosed) this.#finish();
  }

  /** Follows references that are known, and returns the paths without a value. */
  #known(paths: Sets[]): Sets[] {
    const search = new Search(this.#core.limits.referencesMax, this.#given, this);
    return search.of(this.graph, paths);
  }

  #launch(missing: Sets[]): void {
    const unhandled: Sets[] = [];
    const batches: Batch<Data>[] = [];
    for (const sets of missing) {
      for (const piece of this.#core.trie.match(sets, this.#method, unhandled)) {
        if (piece.method === 'call') this.function = piece;
        else this.#add(batches, piece);
      }
    }
    if (unhandled.length > 0) this.#launchUnhandled(unhandled, batches);
    for (const batch of batches) {
      batch.isBlocking =
        batch.route === undefined ||
        batch.pieces.some((sets) => sets.length > (batch.route?.steps.length ?? 0));
      if (batch.isBlocking) this.#blocking++;
      this.#inflight.add(batch);
    }
    for (const batch of batches) this.#start(batch);
  }

  #add(batches: Batch<Data>[], { route, method, sets }: Piece<Route<Data>>): void {
    for (const other of this.#inflight) {
      if (other.route !== route || other.method !== method) continue;
      const { length } = route.steps;
      if (other.pieces.some((piece) => overlaps(piece, sets, length))) {
        other.waiting.push(sets);
        return;
      }
    }
    const batch = batches.find((one) => one.route === route && one.method === method);
    if (batch === undefined) batches.push(new Batch(route, method, [sets]));
    else batch.pieces.push(sets);
  }

  #launchUnhandled(unhandled: Sets[], batches: Batch<Data>[]): void {
    const { unhandled: source } = this.#core;
    if (this.#method === 'call') return;
    if (source === undefined) {
      for (const sets of unhandled) fill(this.graph, sets, 0, ABSENT);
      this.#emit(unhandled);
      return;
    }
    let rest = unhandled;
    if (this.#spare.length > 0) {
      for (const message of this.#spare) this.#outputs.graph(message, unhandled, IGNORING);
      this.#emit(unhandled);
      const search = new Search(0, undefined, this, this.#ready);
      rest = search.of(this.graph, unhandled);
    }
    if (rest.length > 0) batches.push(new Batch<Data>(undefined, this.#method, rest));
  }

  #start(batch: Batch<Data>): void {
    const { route } = batch;
    if (route === undefined) {
      batch.open = 1;
      void this.#ask(batch);
      return;
    }
    const { length } = route.steps;
    const matches = joined(
      batch.pieces.map((sets) => (sets.length === length ? sets : sets.slice(0, length))),
    );
    const { callsMax } = this.#core.limits;
    this.#calls += matches.length;
    if (this.#calls > callsMax) {
      throw routeError('SLU-GRAPH-CALLS', `The request needs more than ${callsMax} calls of routes`);
    }
    batch.open = matches.length;
    for (const match of matches) {
      if (route.handlers.authorize === undefined) this.#admit(batch, route, match);
      else void this.#authorize(batch, route, match);
    }
  }

  async #authorize(batch: Batch<Data>, route: Route<Data>, match: Sets): Promise<void> {
    let refusal: Leaf = DENIED;
    let allowed: Authorization = false;
    try {
      const given = route.handlers.authorize?.(matchedPath(route.steps, match), this.#context, batch.method);
      allowed = (await given) ?? false;
    } catch (error) {
      this.#report(error, route, batch.method);
      refusal = thrownLeaf(error);
    }
    if (this.#isClosed) return;
    if (isTrue(allowed)) {
      this.#admit(batch, route, match);
      return;
    }
    route.stats[batch.method].denied++;
    const granted: Sets[] = [];
    let denied: Sets[] = [match];
    if (typeof allowed === 'function') {
      denied = [];
      try {
        for (const path of singles(match)) (isTrue(allowed(path)) ? granted : denied).push(path);
      } catch (error) {
        this.#report(error, route, batch.method);
        refusal = thrownLeaf(error);
        granted.length = 0;
        denied = [match];
      }
    }
    for (const region of joined(denied)) this.#deny(batch, region, refusal);
    const calls = joined(granted);
    batch.open += calls.length;
    for (const sets of calls) this.#admit(batch, route, sets);
    this.#closed(batch);
  }

  /** Calls a handler, and checks values by the schema before they are set. */
  #admit(batch: Batch<Data>, route: Route<Data>, match: Sets): void {
    const { checks } = this.#core;
    if (batch.method === 'set' && checks !== undefined) void this.#check(batch, route, match, checks);
    else this.#call(batch, route, match);
  }

  async #check(batch: Batch<Data>, route: Route<Data>, match: Sets, checks: SchemaChecks): Promise<void> {
    const admitted: Sets[] = [];
    for (const path of singles(match)) {
      const leaf = this.#given?.leafAt(path);
      let refusal: Leaf | undefined;
      try {
        const checked = await checks.value(path, leaf ?? ABSENT);
        if ('leaf' in checked) this.#given?.replace(path, checked.leaf);
        else refusal = checked.refusal;
      } catch (error) {
        this.#report(error, route, batch.method);
        refusal = thrownLeaf(error);
      }
      if (this.#isClosed) return;
      if (refusal === undefined) admitted.push(path);
      else this.#deny(batch, path, refusal);
    }
    const calls = joined(admitted);
    batch.open += calls.length;
    for (const sets of calls) this.#call(batch, route, sets);
    this.#closed(batch);
  }

  #deny(batch: Batch<Data>, region: Sets, refusal: Leaf): void {
    for (const piece of within(batch.pieces, region)) fill(this.graph, piece, 0, refusal);
  }

  #call(batch: Batch<Data>, route: Route<Data>, match: Sets): void {
    // A handler writes nothing that another call of the batch is for: that may still be denied.
    const isGuarded = route.handlers.authorize !== undefined || this.#core.checks !== undefined;
    const isWhole = batch.open === 1 && !isGuarded;
    const call = new Call(this, batch, route, isWhole ? batch.pieces : within(batch.pieces, match));
    let output: RouteOutput;
    try {
      const matched = matchedPath(route.steps, match);
      output =
        batch.method === 'set'
          ? route.handlers.set?.(this.#given?.valuesOf(match) ?? {}, this.#context, matched)
          : route.handlers.get?.(matched, this.#context);
    } catch (error) {
      this.failed(call, error);
      return;
    }
    if (isPromise(output)) {
      output.then(
        (parts) => this.take(call, parts),
        (error: unknown) => this.failed(call, error),
      );
    } else this.take(call, output);
  }

  /** Takes what a handler returned, or its promise gave. */
  take(call: Call<Data>, output: RouteParts | AsyncIterable<RouteParts>): void {
    if (this.#isClosed) return;
    if (isAsyncIterable(output)) {
      void this.#iterate(call, output);
      return;
    }
    const { batch } = call;
    const isSet = batch.method === 'set' && (output === undefined || output === null);
    const parts = isSet ? this.#given?.envelope : output;
    try {
      this.#outputs.take(parts, call.pieces, call);
    } catch (error) {
      this.failed(call, error);
      return;
    }
    this.#done(call, call.refused);
  }

  async #iterate(call: Call<Data>, output: AsyncIterable<RouteParts>): Promise<void> {
    try {
      for await (const parts of output) {
        if (this.#isClosed) return;
        this.#outputs.take(parts, call.pieces, call);
        this.#emit(call.pieces);
      }
    } catch (error) {
      this.failed(call, error);
      return;
    }
    if (!this.#isClosed) this.#done(call, call.refused);
  }

  /** Gives an error to the paths of a call that have no value. */
  failed(call: Call<Data>, error: unknown): void {
    if (this.#isClosed) return;
    const { batch, route, pieces } = call;
    this.#report(error, route, batch.method);
    const leaf = thrownLeaf(error);
    for (const piece of pieces) this.#fillUnknown(piece, leaf);
    this.#done(call, error);
  }

  #fillUnknown(sets: Sets, leaf: Leaf): void {
    walk(this.graph, sets, new Filling(leaf));
  }

  /** Reports an error that clients do not see. Never throws. */
  #report(error: unknown, route: Route<Data> | undefined, method: Method): void {
    try {
      this.#core.onError(error, { route: route?.text ?? '(unhandled)', method });
    } catch (failure) {
      console.error(failure);
    }
  }

  report(error: unknown, route: Route<Data>, method: Method): void {
    this.#report(error, route, method);
  }

  #done(call: Call<Data>, error: unknown): void {
    this.measured(call.route, call.batch.method, performance.now() - call.started, error);
    this.#closed(call.batch);
  }

  /** Counts a call of a handler. */
  measured(route: Route<Data>, method: Method, ms: number, error: unknown): void {
    const stats = route.stats[method];
    stats.calls++;
    stats.ms += ms;
    if (ms > stats.msMax) stats.msMax = ms;
    if (error !== undefined) stats.failures++;
    const { onRoute } = this.#core;
    if (onRoute === undefined) return;
    try {
      onRoute({ route: route.text, method, ms, ...(error === undefined ? {} : { error }) });
    } catch (failure) {
      this.#report(failure, route, method);
    }
  }

  /** Asks the data source for unhandled paths. */
  async #ask(batch: Batch<Data>): Promise<void> {
    const source = this.#core.unhandled as DataSource;
    const paths = batch.pieces.map(pathSetOf);
    const { signal } = this.#context;
    const refusing: Refusing = { refuse: (error) => this.#report(error, undefined, batch.method) };
    try {
      const answer =
        batch.method === 'set' && source.set !== undefined
          ? source.set({ jsonGraph: this.#given?.valuesOfAll(batch.pieces) ?? {}, paths }, { signal })
          : source.get(paths, { signal });
      for await (const { jsonGraph } of partsOf(answer)) {
        if (this.#isClosed) return;
        this.#spare.push(jsonGraph);
        this.#outputs.graph(jsonGraph, batch.pieces, refusing);
        this.#emit(batch.pieces);
      }
    } catch (error) {
      if (this.#isClosed) return;
      this.#report(error, undefined, batch.method);
      const leaf = thrownLeaf(error, 'SLU-GRAPH-SOURCE');
      for (const piece of batch.pieces) this.#fillUnknown(piece, leaf);
    }
    if (!this.#isClosed) this.#closed(batch);
  }

  /** Ends one call of a batch. After the last one, its paths have values, or continue at references. */
  #closed(batch: Batch<Data>): void {
    if (--batch.open > 0) {
      this.#emit(batch.pieces);
      return;
    }
    this.#inflight.delete(batch);
    if (batch.isBlocking) this.#blocking--;
    for (const piece of batch.pieces) walk(this.graph, piece, this);
    for (const sets of batch.waiting) this.#ready.push(sets);
    this.#emit(batch.pieces);
    this.#flush();
  }

  /** Paths that a handler gave nothing for. */
  missing(branch: Branch, keys: Keys, sets: Sets, step: number): void {
    fillKeys(branch, keys, sets, step, ABSENT);
  }

  through(
    ref: Ref,
    branch: Branch,
    key: PlainKey,
    sets: Sets,
    step: number,
    path: readonly PlainKey[],
  ): void {
    const { referencesMax, depthMax } = this.#core.limits;
    const isDeep = ref.value.length + sets.length - step - 1 > depthMax;
    if (this.#level > referencesMax || isDeep) {
      this.broken(branch, key, path);
      return;
    }
    const target = targetOf(ref, sets, step);
    this.#given?.graft(path, key, target, sets.length - step - 1);
    this.#ready.push(target);
  }

  /** Replaces a reference by an error. */
  broken(branch: Branch, key: PlainKey, path: readonly PlainKey[]): void {
    breakLoop(branch, key);
    if (this.#onPart === undefined) return;
    const part = newBranch();
    const whole = [...path, key];
    writeAt(part, whole, branch[key] as Leaf, whole);
    this.#onPart({ jsonGraph: asJsonGraph(part), paths: [whole] });
  }

  #emit(pieces: readonly Sets[]): void {
    if (this.#onPart === undefined || this.#sent === undefined) return;
    const fresh = new Fresh();
    for (const sets of pieces) fresh.add(this.graph, this.#sent, sets);
    if (fresh.sets.length === 0) return;
    const paths: PathSet[] = joined(fresh.sets).map(pathSetOf);
    this.#onPart({ jsonGraph: asJsonGraph(fresh.graph), paths });
  }
}

const DENIED = errorLeaf('SLU-GRAPH-DENIED', 'Not allowed');

/** Receiver for messages that were checked when they came. */
const IGNORING: Refusing = { refuse: () => undefined };

/** Whether an app allowed something. A promise that a function returned by mistake is no permission. */
export function isTrue(allowed: unknown): boolean {
  return allowed === true;
}

/** Parts of the paths that a match is for. */
function within(pieces: readonly Sets[], match: Sets): Sets[] {
  const parts: Sets[] = [];
  for (const piece of pieces) {
    const found = split(piece, match);
    if (found !== undefined) parts.push(found[0]);
  }
  return parts;
}

/** Call of a handler. */
class Call<Data> implements Refusing {
  readonly batch: Batch<Data>;
  readonly route: Route<Data>;
  /** Whole paths that the handler may give values for. */
  readonly pieces: readonly Sets[];
  /** Time of the call, ms of `performance.now()`. */
  readonly started = performance.now();
  readonly #run: Run<Data>;
  refused: RouteError | undefined;

  constructor(run: Run<Data>, batch: Batch<Data>, route: Route<Data>, pieces: readonly Sets[]) {
    this.#run = run;
    this.batch = batch;
    this.route = route;
    this.pieces = pieces;
  }

  /** Notes values that were not taken; one call reports one of them. */
  refuse(error: RouteError): void {
    if (this.refused !== undefined) return;
    this.refused = error;
    this.#run.report(error, this.route, this.batch.method);
  }
}

/** Receiver of references that lead too far. */
interface Broken {
  broken(branch: Branch, key: PlainKey, path: readonly PlainKey[]): void;
}

/** Search for paths without a value, through references that are known. */
class Search implements Visitor {
  // A path that is asked as a value may have become a branch on behalf of others.
  readonly asksBranches = true;
  readonly #referencesMax: number;
  readonly #given: Given | undefined;
  readonly #broken: Broken;
  readonly #targets: Sets[] | undefined;
  readonly #missing: Sets[] = [];
  #next: Sets[] = [];
  #followed = 0;

  /** Paths behind references are added to `targets` where it is given, and searched otherwise. */
  constructor(referencesMax: number, given: Given | undefined, broken: Broken, targets?: Sets[]) {
    this.#referencesMax = referencesMax;
    this.#given = given;
    this.#broken = broken;
    this.#targets = targets;
  }

  missing(_branch: Branch, keys: Keys, sets: Sets, step: number, path: readonly PlainKey[]): void {
    if (step === 0 && keys === sets[0]) this.#missing.push(sets);
    else this.#missing.push([...path, keys, ...sets.slice(step + 1)]);
  }

  /** Paths without a value. */
  of(graph: Branch, paths: Sets[]): Sets[] {
    let list = joined(paths);
    for (; list.length > 0; this.#followed++) {
      this.#next = [];
      for (const sets of list) walk(graph, sets, this);
      list = joined(this.#next);
    }
    return joined(this.#missing);
  }

  through(
    ref: Ref,
    branch: Branch,
    key: PlainKey,
    sets: Sets,
    step: number,
    path: readonly PlainKey[],
  ): void {
    const target = targetOf(ref, sets, step);
    if (this.#targets !== undefined) this.#targets.push(target);
    else if (this.#followed >= this.#referencesMax) this.#broken.broken(branch, key, path);
    else {
      this.#given?.graft(path, key, target, sets.length - step - 1);
      this.#next.push(target);
    }
  }
}

/** Writes a value wherever paths have none. */
class Filling implements Visitor {
  readonly asksBranches = false;
  readonly #leaf: Leaf;

  constructor(leaf: Leaf) {
    this.#leaf = leaf;
  }

  missing(branch: Branch, keys: Keys, sets: Sets, step: number): void {
    fillKeys(branch, keys, sets, step, this.#leaf);
  }

  through(): void {
    // The paths go on at the reference.
  }
}

function isPromise(value: unknown): value is Promise<RouteParts> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<RouteParts> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

export async function* partsOf(answer: ReturnType<DataSource['get']>): AsyncGenerator<Envelope> {
  if (Symbol.asyncIterator in answer) yield* answer;
  else yield await answer;
}
