/** Walk of path sets over the cache: builds JSON, and notes what is missing. */
import { countKeys } from '../paths/index.js';
import type { Key, KeySet, PathSet, Range } from '../types.js';
import type { Cache } from './cache.js';
import type { PathErrorValue } from './errors.js';
import { type Json, jsonOf, nodeOf, put } from './json.js';
import { boxOf } from './leaf.js';
import { ATOM, BRANCH, ERROR, NEVER, type Node, pathOf, REF } from './node.js';

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
  /** Path sets that are not in the cache, behind the references that it holds. */
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
    for (const pathSet of pathSets) if (pathSet.length > 0) this.#walk(start, pathSet, 0, this.json, false);
    if (this.#expired !== undefined)
      for (const node of this.#expired) if (node.isLive) this.#cache.remove(node, true);
    return this;
  }

  #walk(node: Node, path: PathSet, depth: number, json: Json, isNew: boolean): void {
    const keySet = path[depth] as KeySet;
    if (typeof keySet !== 'object' || keySet === null)
      this.#step(node, path, depth, keySet as string, json, isNew);
    else if (!Array.isArray(keySet)) this.#range(node, path, depth, keySet, json, isNew);
    else {
      // A key may stand twice in a list.
      const parts = keySet as readonly (Key | Range)[];
      const isOnly = isNew && parts.length === 1;
      for (let at = 0; at < parts.length; at += 1) {
        const part = parts[at] as Key | Range;
        if (typeof part === 'object' && part !== null) this.#range(node, path, depth, part, json, isOnly);
        else this.#step(node, path, depth, part as string, json, isOnly);
      }
    }
  }

  #range(node: Node, path: PathSet, depth: number, range: Range, json: Json, isNew: boolean): void {
    const { from = 0, to = from + (range.length as number) - 1 } = range;
    const { kids } = node;
    for (let key = from; key <= to; key += 1) {
      const kid = kids[key];
      if (kid === undefined) {
        this.#miss(node, [key], path, depth);
        continue;
      }
      const value = this.#take(kid, path, depth, key, json, isNew);
      // Stored here and not in put(), as the store of an element is fast where it sees nothing else.
      if (value !== undefined) json[key] = value;
    }
  }

  #step(node: Node, path: PathSet, depth: number, key: string, json: Json, isNew: boolean): void {
    const kid = node.kids[key];
    if (kid === undefined) {
      this.#miss(node, [key], path, depth);
      return;
    }
    const value = this.#take(kid, path, depth, key, json, isNew);
    if (value !== undefined) put(json, key, value);
  }

  /** Value or JSON of a child, undefined for nothing. `isNew`: whether nothing can be there for its key. */
  #take(
    child: Node,
    path: PathSet,
    depth: number,
    key: string | number,
    json: Json,
    isNew: boolean,
  ): unknown {
    // The usual cases are taken here, in few words, so that V8 inlines them.
    if (child.kind === ATOM && child.expires === NEVER && !this.#isBoxed) {
      this.#cache.touch(child);
      if (child.value !== undefined) this.hasValue = true;
      return child.value;
    }
    this.#keys[depth] = key;
    let kid: Node | undefined = child;
    if (child.kind !== BRANCH) {
      const near = child.target;
      if (near?.kind === BRANCH && child.expires === NEVER && depth < path.length - 1) {
        this.#cache.touch(child);
        kid = near;
      } else kid = this.#find(child, path, depth, key);
      if (kid === undefined) return undefined;
      if (kid.kind !== BRANCH) return this.#valueOf(kid, depth, key, json);
    }
    if (depth === path.length - 1) return undefined;
    if (path[depth + 1] === null && depth + 2 === path.length) return undefined;
    const old = isNew ? undefined : (json[key] as Json | undefined);
    const isOld = old !== undefined && nodeOf(old) !== undefined;
    const inner = isOld ? old : jsonOf(kid);
    this.#walk(kid, path, depth + 1, inner, !isOld);
    return inner;
  }

  /** The leaf, or where it leads if it is a reference before the end of the path. Undefined if that is missing. */
  #find(leaf: Node, path: PathSet, depth: number, key: string | number): Node | undefined {
    if (this.#cache.isExpired(leaf)) {
      (this.#expired ??= []).push(leaf);
      this.#miss(leaf.parent as Node, [key], path, depth);
      return undefined;
    }
    this.#cache.touch(leaf);
    if (leaf.kind !== REF || depth === path.length - 1) return leaf;
    const target = this.#cache.follow(leaf);
    if (target === undefined) this.#miss(this.#cache.lost.node, this.#cache.lost.rest, path, depth);
    return target;
  }

  #valueOf(node: Node, depth: number, key: string | number, json: Json): unknown {
    const { kind } = node;
    if (kind === ERROR && !this.#takesErrors) {
      this.errors.push({
        path: this.#keys.slice(0, depth + 1),
        value: this.#isBoxed ? boxOf(node) : node.value,
      });
      return undefined;
    }
    if (this.#isBoxed) {
      // A reference that another path set went through.
      if (kind === REF && nodeOf(json[key]) !== undefined) return undefined;
      this.hasValue = true;
      return boxOf(node);
    }
    if (kind === REF || node.value === undefined) return undefined;
    this.hasValue = true;
    return node.value;
  }

  #miss(deepest: Node, keys: readonly Key[], path: PathSet, depth: number): void {
    const rest = path.slice(depth + 1);
    // A key set without keys asks for nothing.
    if (rest.every((keySet) => countKeys(keySet) > 0))
      this.missing.push([...pathOf(deepest), ...keys, ...rest]);
  }
}
