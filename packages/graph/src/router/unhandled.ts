/** Paths that no route matches: the data source that has them, if there is one, and what it has given. It must not know routes. */
import type { DataSource, Envelope } from '../types.js';
import { Batch } from './batch.js';
import type { Levels, Shared } from './core.js';
import type { Emitter } from './emitter.js';
import { thrownLeaf } from './errors.js';
import { ABSENT, fill, walk } from './graph.js';
import type { Refusing } from './outputs.js';
import { Filling, Search, type Broken } from './search.js';
import { countSets, pathSetOf, type Sets } from './sets.js';
import { Spare } from './spare.js';
import type { Method } from './trie.js';

export class Unhandled<Data> {
  readonly #shared: Shared<Data>;
  readonly #levels: Levels<Data>;
  readonly #broken: Broken;
  readonly #spare: Spare;
  #turns = Promise.resolve();

  constructor(shared: Shared<Data>, levels: Levels<Data>, broken: Broken) {
    this.#shared = shared;
    this.#levels = levels;
    this.#broken = broken;
    this.#spare = new Spare(shared.outputs, shared.emitter !== undefined);
  }

  /** Paths to ask the data source for. Paths that its messages lead to are added to `next`; without a data source all get no value. */
  batchOf(paths: Sets[], method: Method, next: Sets[]): Batch<Data> | undefined {
    const { core, emitter, graph } = this.#shared;
    if (method === 'call') return undefined;
    if (core.unhandled === undefined) {
      for (const sets of paths) {
        fill(graph, sets, 0, ABSENT);
        core.journal.unanswered(undefined, method, countSets(sets));
      }
      emitter?.emit(paths);
      return undefined;
    }
    let rest = paths;
    if (this.#spare.take(paths)) {
      emitter?.emit(paths);
      rest = new Search(0, undefined, this.#broken, next).of(graph, paths);
    }
    return rest.length > 0 ? new Batch<Data>(undefined, method, rest) : undefined;
  }

  /** Asks the data source. */
  start(batch: Batch<Data>): void {
    batch.open = 1;
    this.#ask(batch).catch((error: unknown) => this.#levels.fail(error));
  }

  async #ask(batch: Batch<Data>): Promise<void> {
    const { core, emitter, graph, lifetime, outputs } = this.#shared;
    const refusing: Refusing = {
      refuse: (error) => core.journal.report(error, undefined, batch.method),
    };
    try {
      for await (const { jsonGraph } of partsOf(this.#answerTo(batch))) {
        if (lifetime.isClosed) return;
        outputs.graph(jsonGraph, batch.pieces, refusing);
        this.#spare.add(jsonGraph, batch.pieces);
        if (emitter === undefined) continue;
        emitter.emit(outputs.writtenOf(batch.pieces));
        if (emitter.behind === undefined) continue;
        await this.#turn(emitter);
        if (lifetime.isClosed) return;
      }
    } catch (error) {
      if (lifetime.isClosed) return;
      core.journal.report(error, undefined, batch.method);
      const filling = new Filling(thrownLeaf(error, 'SLU-GRAPH-SOURCE'));
      for (const piece of batch.pieces) walk(graph, piece, filling);
    }
    if (!lifetime.isClosed) this.#levels.closed(batch);
  }

  /**
   * Waits for the next part that the reader takes. One data source may give one part for it: the queue does not grow. A router behind this
   * one sees the pace of the reader, however many parts wait here.
   */
  #turn(emitter: Emitter): Promise<void> {
    this.#turns = this.#turns.then(() => (emitter.behind === undefined ? undefined : emitter.taken));
    return this.#turns;
  }

  #answerTo({ method, pieces }: Batch<Data>): ReturnType<DataSource['get']> {
    const { context, core, given } = this.#shared;
    const source = core.unhandled as DataSource;
    const paths = pieces.map(pathSetOf);
    const { signal } = context;
    return method === 'set' && source.set !== undefined
      ? source.set({ jsonGraph: given?.valuesOfAll(pieces) ?? {}, paths }, { signal })
      : source.get(paths, { signal });
  }
}

/** Parts of an answer, which is one part where it comes whole. */
export async function* partsOf(answer: ReturnType<DataSource['get']>): AsyncGenerator<Envelope> {
  if (Symbol.asyncIterator in answer) yield* answer;
  else yield await answer;
}
