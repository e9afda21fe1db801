/** Walk of path sets over the cache: builds JSON, and notes what is missing. */
import { boundsOf, countKeys, isList } from '../paths/index.js';
import type { Key, KeySet, PathSet, Range } from '../types.js';
import type { Cache } from './cache.js';
import type { PathErrorValue } from './errors.js';
import { type Json, jsonOf, nodeOf, put } from './json.js';
import { boxOf } from './leaf.js';
import type { Uses } from './uses.js';
import { ATOM, BRANCH, ERROR, NEVER, type Node, pathOf, REF } from './node.js';

/** One read of path sets. */
export class Read {
  readonly #cache: Cache;
  readonly #uses: Uses;
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
    this.#uses = cache.uses;
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
    if (!isList(keySet)) this.#part(node, path, depth, keySet, json, isNew);
    // A key may stand twice in a list.
    else for (const part of keySet) this.#part(node, path, depth, part, json, isNew && keySet.length === 1);
  }

  #part(node: Node, path: PathSet, depth: number, part: Key | Range, json: Json, isNew: boolean): void {
    if (typeof part === 'object' && part !== null) {
      const { from, to } = boundsOf(part);
      for (let key = from; key <= to; key += 1) {
        const value = this.#take(node.kids[key], node, path, depth, key, json, isNew);
        // Stored here and not in put(), as the store of an element is fast where it sees nothing else.
        if (value !== undefined) json[key] = value;
      }
    } else if (depth < path.length - 1 || !this.#takesName(node, part as string, json)) {
      const value = this.#take(node.kids[part as string], node, path, depth, part as string, json, isNew);
      if (value !== undefined) put(json, part as string, value);
    }
  }

  /** Takes the value at the last key of a path if nothing is special about it. Apart from other keys, so that V8 sees few names here. */
  #takesName(node: Node, key: string, json: Json): boolean {
    const kid = node.kids[key];
    if (kid?.kind !== ATOM || kid.expires !== NEVER || this.#isBoxed || key === '__proto__') return false;
    this.#uses.touch(kid);
    if (kid.value !== undefined) {
      this.hasValue = true;
      json[key] = kid.value;
    }
    return true;
  }

  /** Value or JSON of a child, undefined for nothing. `isNew`: whether nothing can be there for its key. */
  #take(
    child: Node | undefined,
    parent: Node,
    path: PathSet,
    depth: number,
    key: string | number,
    json: Json,
    isNew: boolean,
  ): unknown {
    if (child === undefined) {
      this.#miss(parent, [key], path, depth);
      return undefined;
    }
    this.#keys[depth] = key;
    let kid: Node | undefined = child;
    const isLast = depth === path.length - 1;
    if (child.kind !== BRANCH) {
      const near = child.target;
      if (near !== null && near.kind === BRANCH && child.expires === NEVER && !isLast) {
        this.#uses.touch(child);
        kid = near;
      } else {
        kid = this.#find(child, path, depth, key);
        if (kid === undefined) return undefined;
        if (kid.kind !== BRANCH) return this.#valueOf(kid, depth, key, json);
      }
    }
    if (isLast) return undefined;
    const next = path[depth + 1] as KeySet;
    const isEnd = depth + 2 === path.length;
    if (isEnd && next === null) return undefined;
    const old = isNew ? undefined : (json[key] as Json | undefined);
    const isOld = old !== undefined && nodeOf(old) !== undefined;
    const inner = isOld ? old : jsonOf(kid);
    if (!isEnd || typeof next !== 'string' || !this.#takesName(kid, next, inner))
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
    this.#uses.touch(leaf);
    if (leaf.kind !== REF || depth === path.length - 1) return leaf;
    const target = this.#cache.follow(leaf);
    if (target === undefined) this.#miss(this.#cache.lost.node, this.#cache.lost.rest, path, depth);
    return target;
  }

  #valueOf(node: Node, depth: number, key: string | number, json: Json): unknown {
    const { kind } = node;
    const value = this.#isBoxed ? boxOf(node) : node.value;
    if (kind === ERROR && !this.#takesErrors) {
      this.errors.push({ path: this.#keys.slice(0, depth + 1), value });
      return undefined;
    }
    // A boxed reference may be one that another path set went through.
    if (kind === REF && (!this.#isBoxed || nodeOf(json[key]) !== undefined)) return undefined;
    if (value !== undefined) this.hasValue = true;
    return value;
  }

  #miss(deepest: Node, keys: readonly Key[], path: PathSet, depth: number): void {
    const rest = path.slice(depth + 1);
    // A key set without keys asks for nothing.
    if (rest.every((keySet) => countKeys(keySet) > 0))
      this.missing.push([...pathOf(deepest), ...keys, ...rest]);
  }
}
