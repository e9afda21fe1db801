/** Reads, writes and requests of the reference, each step at once: what the model does with promises. */
import { collapsePaths, PathTrie } from '../../src/paths/index.js';
import type { Envelope, PathSet } from '../../src/types.js';
import { type Found, Loop, type Options, Reference, ReferenceWrite, type Writer } from './reference.js';

/** How a call ended; undefined while it waits. */
export type Outcome =
  | { readonly is: 'json'; readonly json: unknown }
  | { readonly is: 'errors'; readonly errors: readonly (readonly [string, unknown])[] }
  | { readonly is: 'loop' | 'unanswered' | 'source' | 'aborted' }
  | undefined;

export interface Call {
  outcome: Outcome;
}

export interface View {
  readonly isBoxed?: boolean;
  readonly takesErrors?: boolean;
}

class Request implements Writer {
  readonly id: number;
  sentAt = 0;
  isOnce = false;
  readonly readers = new Map<Reader, string[]>();
  asked = new Set<string>();

  constructor(id: number) {
    this.id = id;
  }
}

class Reader implements Call {
  outcome: Outcome;
  readonly pathSets: readonly PathSet[];
  readonly view: View;
  pending = new Set<Request>();
  asked = '';
  rounds = 0;

  constructor(pathSets: readonly PathSet[], view: View) {
    this.pathSets = pathSets;
    this.view = view;
  }
}

interface PendingSet extends Call {
  readonly write: ReferenceWrite;
  readonly pathSets: readonly PathSet[];
  readonly rollback: boolean;
  readonly envelope: Envelope;
}

/** Order of entries by their names. */
export const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

export const outcomeOf = (found: Found): Outcome =>
  found.errors.size > 0
    ? { is: 'errors', errors: [...found.errors].sort(byName) }
    : { is: 'json', json: found.hasValue ? found.json : undefined };

export class Session {
  readonly cache: Reference;
  readonly inFlight: Request[] = [];
  readonly sets: PendingSet[] = [];
  #batch: Request | undefined;
  #ids = 0;

  constructor(options: Options) {
    this.cache = new Reference(options);
  }

  #id(): number {
    this.#ids += 1;
    return this.#ids;
  }

  get(pathSets: readonly PathSet[], view: View): Call {
    const reader = new Reader(pathSets, view);
    this.#guard(reader, () => {
      const found = this.cache.read(pathSets, view);
      if (found.missing.size === 0) reader.outcome = outcomeOf(found);
      else this.#ask(reader, found);
    });
    return reader;
  }

  #guard(call: Call, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Loop)) throw error;
      call.outcome = { is: 'loop' };
      if (call instanceof Reader) this.#leave(call);
    }
  }

  #ask(reader: Reader, found: Found): void {
    const missing = [...found.missing].sort();
    if (missing.join() === reader.asked || reader.rounds === 32) {
      reader.outcome = { is: 'unanswered' };
      this.#leave(reader);
      return;
    }
    reader.asked = missing.join();
    reader.rounds += 1;
    reader.pending = new Set();
    let rest = missing;
    for (const request of this.inFlight) {
      if (request.isOnce || !rest.some((path) => request.asked.has(path))) continue;
      rest = rest.filter((path) => !request.asked.has(path));
      request.readers.set(reader, []);
      reader.pending.add(request);
    }
    if (rest.length === 0) return;
    this.#batch ??= new Request(-this.#id());
    this.#batch.readers.set(reader, rest);
    reader.pending.add(this.#batch);
  }

  #leave(reader: Reader): void {
    for (const request of reader.pending) {
      request.readers.delete(reader);
      const at = this.inFlight.indexOf(request);
      if (request.readers.size > 0 || at < 0) continue;
      this.inFlight.splice(at, 1);
      this.cache.drop(request);
      this.cache.collect();
    }
    reader.pending.clear();
  }

  /** Ends a tick: what was asked for in it is sent. */
  send(): void {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch === undefined || batch.readers.size === 0) return;
    for (const paths of batch.readers.values()) for (const path of paths) batch.asked.add(path);
    batch.sentAt = this.cache.moment;
    this.inFlight.push(batch);
  }

  /** Takes one part of an answer. */
  part(request: Request, envelope: Envelope): void {
    this.cache.merge(envelope, request);
    this.#advance(request, [...request.readers.keys()], false);
  }

  /** Takes an answer that comes at once. */
  whole(request: Request, envelope: Envelope): void {
    this.cache.merge(envelope, request);
    this.end(request);
  }

  end(request: Request): void {
    const readers = this.#close(request);
    this.#advance(request, readers, true);
    this.cache.drop(request);
    this.cache.collect();
  }

  fail(request: Request): void {
    for (const reader of this.#close(request)) {
      reader.outcome = { is: 'source' };
      this.#leave(reader);
    }
    this.cache.drop(request);
    this.cache.collect();
  }

  #close(request: Request): Reader[] {
    const at = this.inFlight.indexOf(request);
    if (at >= 0) this.inFlight.splice(at, 1);
    const readers = [...request.readers.keys()];
    request.readers.clear();
    return readers;
  }

  #advance(request: Request, readers: readonly Reader[], isDone: boolean): void {
    for (const reader of readers) {
      if (isDone) reader.pending.delete(request);
      this.#guard(reader, () => {
        const found = this.cache.read(reader.pathSets, reader.view);
        if (found.missing.size === 0) {
          reader.outcome = outcomeOf(found);
          this.#leave(reader);
        } else if (reader.pending.size === 0) this.#ask(reader, found);
      });
    }
  }

  abort(call: Call): void {
    if (call.outcome !== undefined || !(call instanceof Reader)) return;
    call.outcome = { is: 'aborted' };
    this.#leave(call);
  }

  set(values: readonly { path: PathSet; value: unknown }[], hasSource: boolean, rollback: boolean): Call {
    const pathSets = values.map(({ path }) => path);
    const write = new ReferenceWrite(this.cache, this.#id(), hasSource);
    const call: Call = { outcome: undefined };
    try {
      for (const { path, value } of values) write.set(path, value);
    } catch (error) {
      if (!(error instanceof Loop)) throw error;
      write.rollBack();
      this.cache.collect();
      call.outcome = { is: 'loop' };
      return call;
    }
    const envelope = hasSource ? write.envelope() : undefined;
    if (envelope === undefined) {
      this.#finish(call, pathSets, write);
      return call;
    }
    this.cache.collect();
    const pending = Object.assign(call, { write, pathSets, rollback, envelope });
    this.sets.push(pending);
    return pending;
  }

  #finish(call: Call, pathSets: readonly PathSet[], writer: Writer): void {
    this.#guard(call, () => (call.outcome = outcomeOf(this.cache.read(pathSets))));
    this.cache.drop(writer);
    this.cache.collect();
  }

  endSet(pending: PendingSet, envelope: Envelope | undefined): void {
    this.sets.splice(this.sets.indexOf(pending), 1);
    if (envelope === undefined) {
      if (pending.rollback) pending.write.rollBack();
      else pending.write.confirm();
      this.cache.collect();
      pending.outcome = { is: 'source' };
      return;
    }
    this.cache.merge(envelope, pending.write);
    pending.write.confirm();
    this.#finish(pending, pending.pathSets, pending.write);
  }

  call(envelope: Envelope): Call {
    const call: Call = { outcome: undefined };
    const writer = { id: this.#id(), sentAt: this.cache.moment, isOnce: false };
    if ((envelope.invalidated?.length ?? 0) > 0) this.#outdate();
    this.#guard(call, () => this.cache.merge(envelope, writer));
    if (call.outcome === undefined) this.#finish(call, envelope.paths ?? [], writer);
    else this.cache.collect();
    return call;
  }

  invalidate(pathSets: readonly PathSet[]): 'loop' | undefined {
    this.#outdate();
    try {
      this.cache.invalidate(pathSets);
    } catch (error) {
      if (!(error instanceof Loop)) throw error;
      return 'loop';
    }
    this.cache.collect();
    return undefined;
  }

  #outdate(): void {
    for (const request of this.inFlight) request.isOnce = true;
  }
}

/** Paths as one text, however they are grouped. */
export const sameText = (pathSets: readonly PathSet[]): string =>
  JSON.stringify(collapsePaths(PathTrie.of(pathSets).pathSets()));
