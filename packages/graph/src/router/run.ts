/**
 * One request: its paths are matched with routes, whose handlers are called once for all paths of a level; references in their results make
 * the paths of the next level. A level waits only for handlers whose results may have references in the middle of a path. It must not know HTTP.
 */
import type { Envelope } from '../types.js';
import { Batch } from './batch.js';
import { Calls } from './calls.js';
import type { RequestContext } from './context.js';
import type { Core, Levels, Shared } from './core.js';
import { Emitter } from './emitter.js';
import { errorLeaf, routeError } from './errors.js';
import { asJsonGraph, fill, newBranch, type Branch } from './graph.js';
import type { Given } from './given.js';
import { Landing } from './landing.js';
import { Lifetime, type Expiring } from './lifetime.js';
import { Outputs } from './outputs.js';
import type { PartReceiver } from './parts.js';
import type { Route } from './route.js';
import { Search } from './search.js';
import { overlaps, type Sets } from './sets.js';
import type { Method, Piece } from './trie.js';
import { Unhandled } from './unhandled.js';

/** Request that is under way. */
export class Run<Data> implements Expiring, Levels<Data> {
  readonly graph: Branch = newBranch();
  readonly #shared: Shared<Data>;
  readonly #lifetime: Lifetime;
  readonly #calls: Calls<Data>;
  readonly #unhandled: Unhandled<Data>;
  readonly #landing: Landing<Data>;
  readonly #inflight = new Set<Batch<Data>>();
  #method: Method;
  #ready: Sets[] = [];
  /** Batches in flight whose results may lead to paths of the next level. */
  #blocking = 0;
  #level = 0;
  #isFlushing = false;
  /** Whether the next level starts when the reader of the answer wants parts again. */
  #isHeld = false;
  /** Function that a call has come to. */
  function: Piece<Route<Data>> | undefined;

  constructor(
    core: Core<Data>,
    context: RequestContext<Data>,
    method: Method,
    { given, receiver }: { readonly given?: Given; readonly receiver?: PartReceiver } = {},
  ) {
    this.#method = method;
    this.#lifetime = new Lifetime(core.limits.timeoutMs, this);
    this.#shared = {
      core,
      context,
      graph: this.graph,
      outputs: new Outputs(this.graph, core.limits, receiver !== undefined),
      lifetime: this.#lifetime,
      given,
      emitter: receiver && new Emitter(this.graph, receiver, this.#lifetime),
    };
    this.#calls = new Calls(this.#shared, this);
    this.#landing = new Landing(this.#shared);
    this.#unhandled = new Unhandled(this.#shared, this, this.#landing);
  }

  get isClosed(): boolean {
    return this.#lifetime.isClosed;
  }

  get outputs(): Outputs {
    return this.#shared.outputs;
  }

  answer(): Envelope {
    return { jsonGraph: asJsonGraph(this.graph) };
  }

  /** Gets paths, and resolves when all have values. Rejects with what `fail` is given. */
  async resolve(paths: Sets[], method: Method = this.#method): Promise<void> {
    this.#method = method;
    for (const sets of paths) this.#ready.push(sets);
    await this.#lifetime.untilFinished(() => this.#flush());
  }

  /** Waits for a result within the time of the request. */
  during<T>(result: Promise<T>): Promise<T> {
    return this.#lifetime.during(result);
  }

  /** Ends the request with an error. Results that come later are dropped. */
  fail(error: unknown): void {
    if (this.isClosed) return;
    this.#leave(undefined);
    this.#lifetime.fail(error);
    this.#shared.context.abort(error);
  }

  /** Gives an error to all paths that are still without a value. */
  expire(): void {
    const { core, context, emitter } = this.#shared;
    const message = `No value came within ${core.limits.timeoutMs} ms`;
    const error = routeError('SLU-GRAPH-TIME', message);
    if (this.#method === 'call') {
      this.fail(error);
      return;
    }
    const late = errorLeaf('SLU-GRAPH-TIME', message);
    const open = [...this.#inflight].flatMap(({ waiting, pieces }) => [...waiting, ...pieces]);
    const missing = this.#known([...this.#ready, ...open]);
    for (const sets of missing) fill(this.graph, sets, 0, late);
    emitter?.emit(missing);
    this.#leave(error);
    this.#lifetime.close();
    context.abort(error);
    this.#lifetime.finish();
  }

  /** Ends a request whose reader takes nothing. */
  stall(): void {
    const { core, emitter } = this.#shared;
    const error = routeError('SLU-GRAPH-TIME', `No part was read for ${core.limits.timeoutMs} ms`);
    this.fail(error);
    emitter?.stall(error);
  }

  /** Frees what the request holds. To be called at its end. */
  dispose(): void {
    this.#lifetime.close();
  }

  #leave(failure: unknown): void {
    for (const batch of this.#inflight) this.#calls.leave(batch, failure);
  }

  /** Starts the next level, once nothing that may add to it is under way, and the reader of parts wants more. */
  #flush(): void {
    if (this.#isFlushing || this.#isHeld) return;
    this.#isFlushing = true;
    try {
      while (this.#ready.length > 0 && this.#blocking === 0 && !this.isClosed) {
        const behind = this.#shared.emitter?.behind;
        if (behind !== undefined) {
          this.#hold(behind);
          return;
        }
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
    if (this.#inflight.size === 0 && this.#ready.length === 0 && !this.isClosed) this.#lifetime.finish();
  }

  #hold(behind: Promise<void>): void {
    this.#isHeld = true;
    void behind.then(() => {
      this.#isHeld = false;
      this.#flush();
    });
  }

  /** Follows references that are known, and returns the paths without a value. */
  #known(paths: Sets[]): Sets[] {
    const { core, given } = this.#shared;
    return new Search(core.limits.referencesMax, given, this.#landing).of(this.graph, paths);
  }

  #launch(missing: Sets[]): void {
    const unhandled: Sets[] = [];
    const batches: Batch<Data>[] = [];
    for (const sets of missing) {
      for (const piece of this.#shared.core.trie.match(sets, this.#method, unhandled)) {
        if (piece.method === 'call') this.function = piece;
        else this.#add(batches, piece);
      }
    }
    if (unhandled.length > 0) {
      const batch = this.#unhandled.batchOf(unhandled, this.#method, this.#ready);
      if (batch !== undefined) batches.push(batch);
    }
    for (const batch of batches) {
      if (batch.isBlocking) this.#blocking++;
      this.#inflight.add(batch);
    }
    for (const batch of batches) {
      if (batch.route === undefined) this.#unhandled.start(batch);
      else this.#calls.start(batch, batch.route);
    }
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

  /** Ends one call of a batch. After the last one, its paths have values, or continue at references. */
  closed(batch: Batch<Data>): void {
    const { emitter } = this.#shared;
    if (--batch.open > 0) {
      emitter?.emit(batch.pieces);
      return;
    }
    this.#inflight.delete(batch);
    if (batch.isBlocking) this.#blocking--;
    this.#landing.land(batch, this.#level, this.#ready);
    for (const sets of batch.waiting) this.#ready.push(sets);
    emitter?.emit(batch.pieces);
    this.#flush();
  }
}
