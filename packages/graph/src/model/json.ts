/** JSON that reads build. Each branch knows its node of the cache without a property that a caller could see. */
import type { Node } from './node.js';

/** Object of the values below a branch, by key. */
export interface Json {
  [key: string]: unknown;
}

// oxlint-disable-next-line no-extraneous-class -- A constructor that returns an object is how a field gets onto that.
class Given {
  constructor(json: Json) {
    return json;
  }
}

/** Puts a private field on a plain object: it is not copied, listed or serialized. */
class Mark extends Given {
  readonly #node: Node;

  constructor(json: Json, node: Node) {
    super(json);
    this.#node = node;
  }

  static nodeOf(json: object): Node | undefined {
    return #node in json ? json.#node : undefined;
  }
}

/** New JSON for a branch. */
export function jsonOf(node: Node): Json {
  const json: Json = {};
  void new Mark(json, node);
  return json;
}

/** Node of JSON that a read has built. */
export function nodeOf(json: unknown): Node | undefined {
  return typeof json === 'object' && json !== null ? Mark.nodeOf(json) : undefined;
}

/** Sets a property, also one that plain assignment would take for the prototype. */
export function put(json: Json, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(json, key, { value, configurable: true, enumerable: true, writable: true });
  else json[key] = value;
}
