/** Subscriptions to paths: each is registered at the places that its values and the references to them have in the tree. */
import { keysOf } from '../paths/index.js';
import type { Key, Path, PathSet } from '../types.js';
import { BRANCH, HOPS, type Node, REF } from './node.js';

/** Subscription. */
export class Watcher {
  readonly pathSets: readonly PathSet[];
  readonly listener: () => void;
  /** Branches at which the subscription is registered, with the key. */
  places: [Node, string][] = [];
  isOn = true;

  constructor(pathSets: readonly PathSet[], listener: () => void) {
    this.pathSets = pathSets;
    this.listener = listener;
  }
}

/** Subscriptions of a cache. */
export class Watching {
  readonly #root: Node;
  /** Subscriptions whose values changed since the last `flush`. */
  readonly #told = new Set<Watcher>();
  /** Subscriptions whose places changed. */
  readonly #moved = new Set<Watcher>();

  constructor(root: Node) {
    this.#root = root;
  }

  remove(watcher: Watcher): void {
    watcher.isOn = false;
    this.#told.delete(watcher);
    this.#moved.delete(watcher);
    this.#unplace(watcher);
  }

  /** Notes that a child has changed; quietly where it was collected or has expired, of which nobody is told. */
  tell(parent: Node, key: string, isQuiet = false): void {
    const watchers = isQuiet ? this.#moved : this.#told;
    for (const watcher of parent.watchers?.get(key) ?? []) watchers.add(watcher);
  }

  /** Notes that a branch has left the tree. */
  gone(node: Node): void {
    for (const watchers of node.watchers?.values() ?? [])
      for (const watcher of watchers) this.#moved.add(watcher);
  }

  /** Calls the listeners of what has changed. */
  flush(call: (listener: () => void) => void): void {
    const told = [...this.#told];
    for (const watcher of new Set([...told, ...this.#moved])) {
      this.#unplace(watcher);
      this.add(watcher);
    }
    this.#told.clear();
    this.#moved.clear();
    for (const watcher of told) if (watcher.isOn) call(watcher.listener);
  }

  #unplace(watcher: Watcher): void {
    for (const [node, key] of watcher.places.splice(0)) {
      const watchers = node.watchers?.get(key);
      watchers?.delete(watcher);
      if (watchers?.size === 0) node.watchers?.delete(key);
      if (node.watchers?.size === 0) node.watchers = null;
    }
  }

  add(watcher: Watcher): void {
    for (const pathSet of watcher.pathSets) this.#walk(watcher, this.#root, pathSet, 0);
  }

  #walk(watcher: Watcher, node: Node, pathSet: PathSet, depth: number): void {
    if (depth === pathSet.length) return;
    for (const key of keysOf(pathSet[depth] as Key)) {
      let kid = this.#step(watcher, node, key);
      if (depth < pathSet.length - 1) kid = this.#follow(watcher, kid, { left: HOPS });
      if (kid?.kind === BRANCH) this.#walk(watcher, kid, pathSet, depth + 1);
    }
  }

  /** Registers at a child, and returns it. */
  #step(watcher: Watcher, node: Node, key: Key): Node | undefined {
    const name = String(key);
    node.watchers ??= new Map();
    let watchers = node.watchers.get(name);
    if (watchers === undefined) node.watchers.set(name, (watchers = new Set()));
    if (!watchers.has(watcher)) {
      watchers.add(watcher);
      watcher.places.push([node, name]);
    }
    return node.kids[name];
  }

  #follow(watcher: Watcher, from: Node | undefined, hops: { left: number }): Node | undefined {
    let node = from;
    while (node?.kind === REF) {
      hops.left -= 1;
      if (hops.left < 0) return undefined;
      const path = node.value as Path;
      node = this.#root;
      for (let depth = 0; depth < path.length && node?.kind === BRANCH; depth += 1) {
        node = this.#step(watcher, node, path[depth] as Key);
        if (depth < path.length - 1) node = this.#follow(watcher, node, hops);
      }
    }
    return node;
  }
}
