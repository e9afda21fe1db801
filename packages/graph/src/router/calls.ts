/** Calls of handlers for the paths of a batch: which paths they are called for, and what becomes of their results. It must not know levels. */
import { Call, within, type Batch } from './batch.js';
import type { Levels, Shared } from './core.js';
import { routeError, thrownLeaf } from './errors.js';
import { fill, walk } from './graph.js';
import { authorize, check, type Verdict } from './guard.js';
import type { Route, RouteOutput, RouteParts } from './route.js';
import { Filling } from './search.js';
import { joined, type Sets } from './sets.js';
import { matchedPath } from './syntax.js';

export class Calls<Data> {
  readonly #shared: Shared<Data>;
  readonly #levels: Levels<Data>;
  /** Calls of the request up to now. */
  #count = 0;

  constructor(shared: Shared<Data>, levels: Levels<Data>) {
    this.#shared = shared;
    this.#levels = levels;
  }

  /** Calls a route's handler for the paths of a batch. Throws a `RouteError` where the request needs too many calls. */
  start(batch: Batch<Data>, route: Route<Data>): void {
    const { length } = route.steps;
    const matches = joined(
      batch.pieces.map((sets) => (sets.length === length ? sets : sets.slice(0, length))),
    );
    const { callsMax } = this.#shared.core.limits;
    this.#count += matches.length;
    if (this.#count > callsMax) {
      throw routeError('SLU-GRAPH-CALLS', `The request needs more than ${callsMax} calls of routes`);
    }
    batch.open = matches.length;
    const isGuarded = this.#isGuarded(batch, route);
    for (const match of matches) {
      if (isGuarded) this.#watch(this.#guard(batch, route, match));
      else this.#call(batch, route, match);
    }
  }

  /** Counts calls that have not ended. `failure`: what they have failed with; undefined where nobody waits for them. */
  leave({ running }: Batch<Data>, failure: unknown): void {
    for (const call of running) this.#measure(call, failure);
  }

  #isGuarded({ method }: Batch<Data>, { handlers }: Route<Data>): boolean {
    return handlers.authorize !== undefined || (method === 'set' && this.#shared.core.checks !== undefined);
  }

  /** Ends the request where work in the background fails, which only an error of this package makes it do. */
  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.#levels.fail(error));
  }

  /** Calls the handler for the paths that the route authorizes and whose values the schema takes. */
  async #guard(batch: Batch<Data>, route: Route<Data>, match: Sets): Promise<void> {
    const { core, context, given, lifetime } = this.#shared;
    let granted = [match];
    if (route.handlers.authorize !== undefined) {
      const verdict = await authorize(route, match, context, batch.method, core.journal);
      if (verdict.refused.length > 0) core.journal.denied(route, batch.method);
      granted = this.#judged(batch, [verdict]);
    }
    const { checks } = core;
    if (batch.method === 'set' && checks !== undefined && given !== undefined) {
      const verdicts = granted.map((sets) => check(checks, given, sets, route, core.journal));
      granted = this.#judged(batch, await Promise.all(verdicts));
    }
    if (lifetime.isClosed) return;
    batch.open += granted.length;
    for (const sets of granted) this.#call(batch, route, sets);
    this.#levels.closed(batch);
  }

  /** Gives refused paths their errors, and returns the others. */
  #judged(batch: Batch<Data>, verdicts: readonly Verdict[]): Sets[] {
    const { graph, lifetime } = this.#shared;
    if (lifetime.isClosed) return [];
    for (const { refused } of verdicts) {
      for (const [region, leaf] of refused)
        for (const piece of within(batch.pieces, region)) fill(graph, piece, 0, leaf);
    }
    return verdicts.flatMap(({ granted }) => granted);
  }

  #call(batch: Batch<Data>, route: Route<Data>, match: Sets): void {
    const { core, context, given } = this.#shared;
    // A handler writes nothing that another call of the batch is for: that may still be denied.
    const isWhole = batch.open === 1 && !this.#isGuarded(batch, route);
    const pieces = isWhole ? batch.pieces : within(batch.pieces, match);
    const call = new Call(core.journal, batch, route, pieces, match);
    let output: RouteOutput;
    try {
      const matched = matchedPath(route.steps, match);
      output =
        batch.method === 'set'
          ? route.handlers.set?.(given?.valuesOf(match) ?? {}, context, matched)
          : route.handlers.get?.(matched, context);
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
    const { given, lifetime, outputs } = this.#shared;
    if (lifetime.isClosed) return;
    if (isAsyncIterable(output)) {
      this.#watch(this.#iterate(call, output));
      return;
    }
    const isSet = call.batch.method === 'set' && (output === undefined || output === null);
    const parts = isSet ? given?.envelope : output;
    try {
      outputs.take(parts, call.pieces, call);
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    this.#done(call, call.refused);
  }

  async #iterate(call: Call<Data>, output: AsyncIterable<RouteParts>): Promise<void> {
    const { emitter, lifetime, outputs } = this.#shared;
    try {
      for await (const parts of output) {
        if (lifetime.isClosed) return;
        outputs.take(parts, call.pieces, call);
        if (emitter === undefined) continue;
        emitter.emit(outputs.writtenOf(call.pieces));
        const { behind } = emitter;
        if (behind === undefined) continue;
        await behind;
        if (lifetime.isClosed) return;
      }
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    if (!lifetime.isClosed) this.#done(call, call.refused);
  }

  /** Gives an error to the paths of a call that have no value. */
  #failed(call: Call<Data>, error: unknown): void {
    const { core, graph, lifetime } = this.#shared;
    if (lifetime.isClosed) return;
    core.journal.report(error, call.route, call.batch.method);
    const filling = new Filling(thrownLeaf(error));
    for (const piece of call.pieces) walk(graph, piece, filling);
    this.#done(call, error);
  }

  #done(call: Call<Data>, error: unknown): void {
    this.#measure(call, error);
    this.#levels.closed(call.batch);
  }

  #measure(call: Call<Data>, error: unknown): void {
    const { batch, route, paths, started } = call;
    batch.running.delete(call);
    const ms = performance.now() - started;
    this.#shared.core.journal.measured(route, batch.method, { paths, ms, error });
  }
}

function isPromise(value: unknown): value is Promise<RouteParts> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<RouteParts> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
