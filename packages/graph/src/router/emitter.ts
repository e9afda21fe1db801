/** Parts of an answer, cut from the graph of a request as its values come. */
import { asJsonGraph, Fresh, newBranch, type Branch, type Leaf } from './graph.js';
import { writeAt } from './outputs.js';
import type { OnPart } from './parts.js';
import { joined, pathSetOf, type PlainKey, type Sets } from './sets.js';

export class Emitter {
  readonly #graph: Branch;
  readonly #onPart: OnPart;
  /** Places whose values have been given. */
  readonly #sent = newBranch();

  constructor(graph: Branch, onPart: OnPart) {
    this.#graph = graph;
    this.#onPart = onPart;
  }

  /** Gives the values of paths that have come since. */
  emit(paths: readonly Sets[]): void {
    const fresh = new Fresh();
    for (const sets of paths) fresh.add(this.#graph, this.#sent, sets);
    if (fresh.sets.length === 0) return;
    this.#onPart({ jsonGraph: asJsonGraph(fresh.graph), paths: joined(fresh.sets).map(pathSetOf) });
  }

  /** Gives a value that replaces one that was given before. */
  replaced(path: readonly PlainKey[], leaf: Leaf): void {
    const part = newBranch();
    writeAt(part, path, leaf, path);
    this.#onPart({ jsonGraph: asJsonGraph(part), paths: [path] });
  }
}
