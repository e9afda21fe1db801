/** Parts of an answer, cut from the graph of a request as its values come. The graph keeps references, and drops other values. */
import type { Envelope } from '../types.js';
import type { RouteError } from './errors.js';
import { Fresh } from './fresh.js';
import { asJsonGraph, newBranch, type Branch, type Leaf } from './graph.js';
import { writeAt } from './outputs.js';
import type { Lifetime } from './lifetime.js';
import type { PartReceiver } from './parts.js';
import { joined, pathSetOf, type PlainKey, type Sets } from './sets.js';

export class Emitter {
  readonly #graph: Branch;
  readonly #receiver: PartReceiver;
  readonly #lifetime: Lifetime;
  /** Places whose values have been given. */
  readonly #sent = newBranch();

  constructor(graph: Branch, receiver: PartReceiver, lifetime: Lifetime) {
    this.#graph = graph;
    this.#receiver = receiver;
    this.#lifetime = lifetime;
  }

  /** Promise that resolves when the reader wants parts again; undefined where it wants some now. */
  get behind(): Promise<void> | undefined {
    return this.#receiver.behind;
  }

  /** Promise that resolves when the reader takes its next part. */
  get taken(): Promise<void> {
    return this.#receiver.taken;
  }

  /** Frees the parts that a reader does not take. */
  stall(error: RouteError): void {
    this.#receiver.stall(error);
  }

  /** Gives the values of paths that have come since. */
  emit(paths: readonly Sets[]): void {
    const fresh = new Fresh();
    for (const sets of paths) fresh.add(this.#graph, this.#sent, sets);
    if (fresh.sets.length === 0) return;
    this.#give({ jsonGraph: asJsonGraph(fresh.graph), paths: joined(fresh.sets).map(pathSetOf) });
  }

  /** Gives a value that replaces one that was given before. */
  replaced(path: readonly PlainKey[], leaf: Leaf): void {
    const part = newBranch();
    writeAt(part, path, leaf, path);
    this.#give({ jsonGraph: asJsonGraph(part), paths: [path] });
  }

  #give(part: Envelope): void {
    this.#receiver.give(part);
    if (this.#receiver.behind !== undefined) this.#lifetime.waitForReader(this.#receiver);
  }
}
