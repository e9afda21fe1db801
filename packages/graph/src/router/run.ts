/**
 * One request: its paths are matched with routes, whose handlers are called once for all paths of a level; references in their results make
 * the paths of the next level. A level waits only for handlers whose results may have references in the middle of a path. It must not know HTTP.
 */
import type { DataSource, Envelope, Ref } from '../types.js';
import { Batch, Call, within } from './batch.js';
import type { SchemaChecks } from './checks.js';
import type { RequestContext } from './context.js';
import { Emitter } from './emitter.js';
import { errorLeaf, routeError, thrownLeaf } from './errors.js';
import {
  ABSENT,
  asJsonGraph,
  breakLoop,
  fill,
  fillKeys,
  newBranch,
  targetOf,
  walk,
  type Branch,
  type Leaf,
  type Visitor,
} from './graph.js';
import type { Given } from './given.js';
import { authorize, check, type Verdict } from './guard.js';
import type { Journal } from './journal.js';
import type { Limits } from './limits.js';
import { Outputs, type Refusing } from './outputs.js';
import type { OnPart } from './parts.js';
import type { Route, RouteOutput, RouteParts } from './route.js';
import { Filling, Search, type Broken } from './search.js';
import { countSets, joined, overlaps, pathSetOf, type Keys, type PlainKey, type Sets } from './sets.js';
import { matchedPath } from './syntax.js';
import type { Method, Piece, Trie } from './trie.js';

/** Parts of a router that its requests share. */
export interface Core<Data> {
  readonly trie: Trie<Route<Data>>;
  readonly checks: SchemaChecks | undefined;
  readonly limits: Limits;
  readonly unhandled: DataSource | undefined;
  readonly journal: Journal<Data>;
}

/** Request that is under way. */
export class Run<Data> implements Visitor, Broken {
  readonly asksBranches = false;
  readonly graph: Branch = newBranch();
  readonly #core: Core<Data>;
  readonly #context: RequestContext<Data>;
  readonly #outputs: Outputs;
  readonly #given: Given | undefined;
  readonly #emitter: Emitter | undefined;
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
  #failure: { readonly error: unknown } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  /** Batch whose paths are being looked at, after its last call. */
  #ending: Batch<Data> | undefined;
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
    this.#emitter = onPart === undefined ? undefined : new Emitter(this.graph, onPart);
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
    this.#throwIfFailed();
    await new Promise<void>((resolve, reject) => {
      this.#end = { resolve, reject };
      this.#flush();
      if (this.#end !== undefined) this.#startTimer();
    });
  }

  /** Waits for a result within the time of the request. */
  async during<T>(result: Promise<T>): Promise<T> {
    // Nobody waits for it where the request has failed.
    result.catch(() => undefined);
    this.#throwIfFailed();
    return new Promise<T>((resolve, reject) => {
      this.#end = { resolve: () => undefined, reject };
      this.#startTimer();
      result.then(resolve, reject);
    });
  }

  /** Ends the request with an error. Results that come later are dropped. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#failure = { error };
    const end = this.#end;
    this.#end = undefined;
    this.#close(error);
    end?.reject(error);
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Frees what the request holds. To be called at its end. */
  dispose(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** `failure`: what calls that are under way have failed with; undefined where nobody waits for them. */
  #close(reason: unknown, failure?: unknown): void {
    for (const { running } of this.#inflight) for (const call of running) this.#measure(call, failure);
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
    this.#emitter?.emit(missing);
    const error = routeError('SLU-GRAPH-TIME', message);
    this.#close(error, error);
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
      for (const sets of unhandled) {
        fill(this.graph, sets, 0, ABSENT);
        this.#core.journal.unanswered(undefined, this.#method, countSets(sets));
      }
      this.#emitter?.emit(unhandled);
      return;
    }
    let rest = unhandled;
    if (this.#spare.length > 0) {
      for (const message of this.#spare) this.#outputs.graph(message, unhandled, IGNORING);
      this.#emitter?.emit(unhandled);
      const search = new Search(0, undefined, this, this.#ready);
      rest = search.of(this.graph, unhandled);
    }
    if (rest.length > 0) batches.push(new Batch<Data>(undefined, this.#method, rest));
  }

  #start(batch: Batch<Data>): void {
    const { route } = batch;
    if (route === undefined) {
      batch.open = 1;
      this.#watch(this.#ask(batch));
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
    const isGuarded = this.#isGuarded(batch, route);
    for (const match of matches) {
      if (isGuarded) this.#watch(this.#guard(batch, route, match));
      else this.#call(batch, route, match);
    }
  }

  #isGuarded({ method }: Batch<Data>, { handlers }: Route<Data>): boolean {
    return handlers.authorize !== undefined || (method === 'set' && this.#core.checks !== undefined);
  }

  /** Ends the request where work in the background fails, which only an error of this package makes it do. */
  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.fail(error));
  }

  /** Calls the handler for the paths that the route authorizes and whose values the schema takes. */
  async #guard(batch: Batch<Data>, route: Route<Data>, match: Sets): Promise<void> {
    let granted = [match];
    if (route.handlers.authorize !== undefined) {
      const verdict = await authorize(route, match, this.#context, batch.method, this.#core.journal);
      if (verdict.refused.length > 0) this.#core.journal.denied(route, batch.method);
      granted = this.#judged(batch, [verdict]);
    }
    const { checks } = this.#core;
    const given = this.#given;
    if (batch.method === 'set' && checks !== undefined && given !== undefined) {
      const verdicts = granted.map((sets) => check(checks, given, sets, route, this.#core.journal));
      granted = this.#judged(batch, await Promise.all(verdicts));
    }
    if (this.#isClosed) return;
    batch.open += granted.length;
    for (const sets of granted) this.#call(batch, route, sets);
    this.#closed(batch);
  }

  /** Gives refused paths their errors, and returns the others. */
  #judged(batch: Batch<Data>, verdicts: readonly Verdict[]): Sets[] {
    if (this.#isClosed) return [];
    for (const { refused } of verdicts) {
      for (const [region, leaf] of refused)
        for (const piece of within(batch.pieces, region)) fill(this.graph, piece, 0, leaf);
    }
    return verdicts.flatMap(({ granted }) => granted);
  }

  #call(batch: Batch<Data>, route: Route<Data>, match: Sets): void {
    // A handler writes nothing that another call of the batch is for: that may still be denied.
    const isWhole = batch.open === 1 && !this.#isGuarded(batch, route);
    const call = new Call(
      this.#core.journal,
      batch,
      route,
      isWhole ? batch.pieces : within(batch.pieces, match),
      match,
    );
    let output: RouteOutput;
    try {
      const matched = matchedPath(route.steps, match);
      output =
        batch.method === 'set'
          ? route.handlers.set?.(this.#given?.valuesOf(match) ?? {}, this.#context, matched)
          : route.handlers.get?.(matched, this.#context);
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    if (isPromise(output)) {
      this.#watch(
        output.then(
          (parts) => this.#take(call, parts),
          (error: unknown) => this.#failed(call, error),
        ),
      );
    } else this.#take(call, output);
  }

  /** Takes what a handler returned, or its promise gave. */
  #take(call: Call<Data>, output: RouteParts | AsyncIterable<RouteParts>): void {
    if (this.#isClosed) return;
    if (isAsyncIterable(output)) {
      this.#watch(this.#iterate(call, output));
      return;
    }
    const { batch } = call;
    const isSet = batch.method === 'set' && (output === undefined || output === null);
    const parts = isSet ? this.#given?.envelope : output;
    try {
      this.#outputs.take(parts, call.pieces, call);
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    this.#done(call, call.refused);
  }

  async #iterate(call: Call<Data>, output: AsyncIterable<RouteParts>): Promise<void> {
    try {
      for await (const parts of output) {
        if (this.#isClosed) return;
        this.#outputs.take(parts, call.pieces, call);
        this.#emitter?.emit(call.pieces);
      }
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    if (!this.#isClosed) this.#done(call, call.refused);
  }

  /** Gives an error to the paths of a call that have no value. */
  #failed(call: Call<Data>, error: unknown): void {
    if (this.#isClosed) return;
    const { batch, route, pieces } = call;
    this.#core.journal.report(error, route, batch.method);
    const leaf = thrownLeaf(error);
    for (const piece of pieces) this.#fillUnknown(piece, leaf);
    this.#done(call, error);
  }

  #fillUnknown(sets: Sets, leaf: Leaf): void {
    walk(this.graph, sets, new Filling(leaf));
  }

  #done(call: Call<Data>, error: unknown): void {
    this.#measure(call, error);
    this.#closed(call.batch);
  }

  #measure(call: Call<Data>, error: unknown): void {
    const { batch, route, paths } = call;
    batch.running.delete(call);
    this.#core.journal.measured(route, batch.method, { paths, ms: performance.now() - call.started, error });
  }

  /** Asks the data source for unhandled paths. */
  async #ask(batch: Batch<Data>): Promise<void> {
    const source = this.#core.unhandled as DataSource;
    const paths = batch.pieces.map(pathSetOf);
    const { signal } = this.#context;
    const refusing: Refusing = {
      refuse: (error) => this.#core.journal.report(error, undefined, batch.method),
    };
    try {
      const answer =
        batch.method === 'set' && source.set !== undefined
          ? source.set({ jsonGraph: this.#given?.valuesOfAll(batch.pieces) ?? {}, paths }, { signal })
          : source.get(paths, { signal });
      for await (const { jsonGraph } of partsOf(answer)) {
        if (this.#isClosed) return;
        this.#spare.push(jsonGraph);
        this.#outputs.graph(jsonGraph, batch.pieces, refusing);
        this.#emitter?.emit(batch.pieces);
      }
    } catch (error) {
      if (this.#isClosed) return;
      this.#core.journal.report(error, undefined, batch.method);
      const leaf = thrownLeaf(error, 'SLU-GRAPH-SOURCE');
      for (const piece of batch.pieces) this.#fillUnknown(piece, leaf);
    }
    if (!this.#isClosed) this.#closed(batch);
  }

  /** Ends one call of a batch. After the last one, its paths have values, or continue at references. */
  #closed(batch: Batch<Data>): void {
    if (--batch.open > 0) {
      this.#emitter?.emit(batch.pieces);
      return;
    }
    this.#inflight.delete(batch);
    if (batch.isBlocking) this.#blocking--;
    this.#ending = batch;
    for (const piece of batch.pieces) walk(this.graph, piece, this);
    for (const sets of batch.waiting) this.#ready.push(sets);
    this.#emitter?.emit(batch.pieces);
    this.#flush();
  }

  /** Paths that a handler gave nothing for. */
  missing(branch: Branch, keys: Keys, sets: Sets, step: number): void {
    if (this.#ending !== undefined) {
      const { route, method } = this.#ending;
      const count = countSets([keys]) * countSets(sets, step + 1, route?.steps.length);
      this.#core.journal.unanswered(route, method, count);
    }
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
    this.#emitter?.replaced([...path, key], branch[key] as Leaf);
  }
}

/** Receiver for messages that were checked when they came. */
const IGNORING: Refusing = { refuse: () => undefined };

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
