/** Walk of path sets over the cache: builds JSON, and notes what is missing. */
import { boundsOf } from '../paths/index.js';
import type { Key, KeySet, PathSet, Range } from '../types.js';
import type { Cache } from './cache.js';
import type { PathErrorValue } from './errors.js';
import { type Json, jsonOf, nodeOf, put } from './json.js';
import { boxOf } from './leaf.js';
import { BRANCH, ERROR, NEVER, type Node, pathOf, REF } from './node.js';

/** One read of path sets. */
export class Read {
  readonly #cache: Cache;
  readonly #isBoxed: boolean;
  readonly #takesErrors: boolean;
  readonly #keys: Key[] = [];
  #expired: Node[] | undefined;
  json: Json = {};
  /** Whether a value was found. */
  hasValue = false;
  /** Path sets that are not in the cache; references are resolved as far as the cache holds them. */
  readonly missing: PathSet[] = [];
  readonly errors: PathErrorValue[] = [];

  constructor(cache: Cache, isBoxed: boolean, takesErrors: boolean) {
    this.#cache = cache;
    this.#isBoxed = isBoxed;
    this.#takesErrors = takesErrors;
  }

  /**
   * Reads path sets below a node.
   *
   * @throws ReferenceLoopError where references lead to each other.
   */
  run(pathSets: readonly PathSet[], start: Node): this {
    this.json = jsonOf(start);
    for (const pathSet of pathSets) if (pathSet.length > 0) this.#walk(start, pathSet, 0, this.json);
    if (this.#expired !== undefined)
      for (const node of this.#expired) if (node.isLive) this.#cache.remove(node, true);
    return this;
  }

  #walk(node: Node, path: PathSet, depth: number, json: Json): void {
    const keySet = path[depth] as KeySet;
    if (typeof keySet !== 'object' || keySet === null) {
      this.#step(node, path, depth, keySet as string, json);
    } else if (Array.isArray(keySet)) {
      const parts = keySet as readonly (Key | Range)[];
      for (let at = 0; at < parts.length; at += 1) {
        const part = parts[at] as Key | Range;
        if (typeof part === 'object' && part !== null) this.#range(node, path, depth, part, json);
        else this.#step(node, path, depth, part as string, json);
      }
    } else this.#range(node, path, depth, keySet, json);
  }

  #range(node: Node, path: PathSet, depth: number, range: Range, json: Json): void {
    const { from, to } = boundsOf(range);
    for (let key = from; key <= to; key += 1) this.#step(node, path, depth, key, json);
  }

  #step(node: Node, path: PathSet, depth: number, key: string | number, json: Json): void {
    let kid = node.kids[key];
    if (kid === undefined) {
      this.#miss(node, [key], path, depth);
      return;
    }
    this.#keys[depth] = key;
    const isLast = depth === path.length - 1;
    if (kid.kind !== BRANCH) {
      if (kid.expires !== NEVER && this.#cache.isExpired(kid)) {
        (this.#expired ??= []).push(kid);
        this.#miss(node, [key], path, depth);
        return;
      }
      this.#cache.promote(kid);
      if (kid.kind === REF && !isLast) {
        kid = this.#cache.follow(kid);
        if (kid === undefined) {
          const { node: deepest, rest } = this.#cache.lost;
          this.#miss(deepest, rest, path, depth);
          return;
        }
      }
      if (kid.kind !== BRANCH) {
        this.#emit(kid, depth, key, json);
        return;
      }
    }
    if (isLast) return;
    if (path[depth + 1] === null && depth + 2 === path.length) return;
    let inner = json[key] as Json | undefined;
    if (inner === undefined || nodeOf(inner) === undefined) put(json, key, (inner = jsonOf(kid)));
    this.#walk(kid, path, depth + 1, inner);
  }

  #emit(node: Node, depth: number, key: string | number, json: Json): void {
    if (this.#isBoxed) {
      if (node.kind === ERROR && !this.#takesErrors) this.#fail(depth, boxOf(node));
      else if (node.kind !== REF || nodeOf(json[key]) === undefined) this.#put(json, key, boxOf(node));
      return;
    }
    if (node.kind === REF) return;
    if (node.kind === ERROR && !this.#takesErrors) this.#fail(depth, node.value);
    else if (node.value !== undefined) this.#put(json, key, node.value);
  }

  #put(json: Json, key: string | number, value: unknown): void {
    put(json, key, value);
    this.hasValue = true;
  }

  #fail(depth: number, value: unknown): void {
    this.errors.push({ path: this.#keys.slice(0, depth + 1), value });
  }

  #miss(deepest: Node, keys: readonly Key[], path: PathSet, depth: number): void {
    this.missing.push([...pathOf(deepest), ...keys, ...path.slice(depth + 1)]);
  }
}
