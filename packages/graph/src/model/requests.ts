/** Requests for missing values: those of one tick go together, and what is in flight is not asked for again. */
import { collapse, PathTrie } from '../paths/index.js';
import type { DataSource, PathSet } from '../types.js';
import { Writer } from './cache.js';
import type { Root } from './root.js';

/** Waits for values of requests. */
export interface Reader {
  /** Takes note that a part of the answer is in the cache, and whether it was the last. */
  advance(request: Request, isDone: boolean): void;
  fail(error: unknown): void;
}

/** Time at which a batch is sent: after so many milliseconds, or when a function calls what it is given. */
export type Pace = number | ((send: () => void) => void);

/** Sends at the end of the current task. */
export const inTick: Pace = (send) => queueMicrotask(send);

/** Sends at once. */
export const atOnce: Pace = (send) => send();

/** Request to the data source. */
export class Request extends Writer {
  /** Readers, and the collapsed path sets that each has added before it was sent. */
  readonly readers = new Map<Reader, readonly PathSet[]>();
  readonly abort = new AbortController();
  /** Path sets that are asked for, once it is sent. */
  pathSets: readonly PathSet[] = [];
  /** The same paths as a set, made for the first reader that asks while it is in flight. */
  asked: PathTrie | undefined;
}

/** Requests of a cache to its data source. */
export class Requests {
  readonly #root: Root;
  readonly #source: DataSource;
  /** Number of times that answers in flight became old. */
  outdates = 0;
  readonly #batches = new Map<Pace, Request>();
  readonly #inFlight = new Set<Request>();

  constructor(root: Root, source: DataSource) {
    this.#root = root;
    this.#source = source;
  }

  /** Asks for collapsed path sets, and returns the requests that will bring them. */
  ask(reader: Reader, pathSets: readonly PathSet[], pace: Pace): Set<Request> {
    let rest = pathSets;
    const requests = new Set<Request>();
    for (const request of this.#inFlight) {
      const trie = PathTrie.of(rest);
      if (request.isOnce || !trie.removeAll((request.asked ??= PathTrie.of(request.pathSets)))) continue;
      rest = trie.pathSets();
      request.readers.set(reader, rest);
      requests.add(request);
    }
    if (rest.length === 0) return requests;
    const open = this.#batches.get(pace);
    const batch = open ?? new Request(-this.#root.nextId(), 0);
    batch.readers.set(reader, rest);
    if (open === undefined) {
      this.#batches.set(pace, batch);
      const send = (): void => this.#send(batch, pace);
      if (typeof pace === 'function') pace(send);
      else setTimeout(send, pace);
    }
    return requests.add(batch);
  }

  /** Takes a reader from a request, which is aborted if it was the last. */
  leave(request: Request, reader: Reader): void {
    if (!request.readers.delete(reader) || request.readers.size > 0 || !this.#inFlight.delete(request))
      return;
    request.abort.abort();
    this.#root.drop(request);
  }

  /** Values of requests in flight are read once and not kept, and no reader joins these any more. */
  outdate(): void {
    this.outdates += 1;
    for (const request of this.#inFlight) request.isOnce = true;
  }

  #send(request: Request, pace: Pace): void {
    this.#batches.delete(pace);
    if (request.readers.size === 0) return;
    const asked = [...request.readers.values()];
    request.pathSets = asked.length === 1 ? (asked[0] as PathSet[]) : collapse(asked.flat());
    request.sentAt = this.#root.cache.moment;
    this.#inFlight.add(request);
    void this.#take(request);
  }

  async #take(request: Request): Promise<void> {
    const { signal } = request.abort;
    try {
      const answer = this.#source.get(request.pathSets, { signal });
      const isParted = Symbol.asyncIterator in answer;
      for await (const envelope of isParted ? answer : [answer]) {
        if (signal.aborted) return;
        this.#root.cache.merge(envelope, request);
        if (!isParted) continue;
        for (const reader of Array.from(request.readers.keys())) reader.advance(request, false);
        this.#root.tell();
      }
      if (!signal.aborted) this.#end(request, (reader) => reader.advance(request, true));
    } catch (error) {
      if (!signal.aborted) this.#end(request, (reader) => reader.fail(error));
    }
  }

  #end(request: Request, tell: (reader: Reader) => void): void {
    this.#inFlight.delete(request);
    const readers = [...request.readers.keys()];
    request.readers.clear();
    for (const reader of readers) tell(reader);
    this.#root.drop(request);
  }
}
