/** Data that a data source of tests serves: a flat map, and answers that follow references one path at a time. */
import { expandPaths } from '../../src/paths/index.js';
import type { Envelope, Key, PathSet } from '../../src/types.js';
import { isWire, nest } from './reference.js';

export class Server {
  readonly #values = new Map<string, { pos: string[]; wire: unknown }>();

  set(path: readonly Key[], wire: unknown): void {
    const pos = path.map(String);
    for (const [name, value] of this.#values) {
      const length = Math.min(pos.length, value.pos.length);
      if (value.pos.slice(0, length).every((key, at) => key === pos[at])) this.#values.delete(name);
    }
    this.#values.set(JSON.stringify(pos), { pos, wire });
  }

  setAll(graph: object, top: readonly string[] = []): void {
    for (const [key, value] of Object.entries(graph))
      if (isWire(value)) this.set([...top, key], value);
      else this.setAll(value as object, [...top, key]);
  }

  #hasBranch(pos: readonly string[]): boolean {
    return [...this.#values.values()].some(({ pos: other }) => pos.every((key, at) => other[at] === key));
  }

  answer(paths: readonly PathSet[]): Envelope {
    const jsonGraph = {};
    for (const path of expandPaths(paths)) this.#answer(path, jsonGraph, 12);
    return { jsonGraph, paths };
  }

  #answer(path: readonly Key[], graph: object, hops: number): void {
    const keys = path.at(-1) === null ? path.slice(0, -1) : path;
    for (let depth = 0; depth < keys.length; depth += 1) {
      const pos = keys.slice(0, depth + 1).map(String);
      const value = this.#values.get(JSON.stringify(pos));
      if (value === undefined) {
        if (this.#hasBranch(pos)) continue;
        place(graph, keys, { $type: 'atom' });
        return;
      }
      place(graph, pos, value.wire === undefined ? { $type: 'atom' } : value.wire);
      const { $type, value: target } = (value.wire ?? {}) as { $type?: string; value?: Key[] };
      const follows = depth < path.length - 1;
      if ($type === 'ref' && follows && hops > 0) {
        const rest = [...(target as Key[]), ...keys.slice(depth + 1)];
        this.#answer(path.at(-1) === null ? [...rest, null] : rest, graph, hops - 1);
      }
      return;
    }
  }
}

/** Puts a value into a graph, unless a value stands above it: values are shared with caches, and never written into. */
function place(graph: object, pos: readonly Key[], value: unknown): void {
  let at: unknown = graph;
  for (const key of pos.slice(0, -1).map(String)) {
    if (!Object.hasOwn(at as object, key)) break;
    at = (at as Record<string, unknown>)[key];
    if (isWire(at)) return;
  }
  nest(graph, pos, value);
}
