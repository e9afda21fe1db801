/** Nodes of the cache's tree. One class for branches and leaves keeps every access to one shape. */
import type { Key, Sentinel } from '../types.js';
import type { Watcher } from './watch.js';

export const BRANCH = 0;
export const ATOM = 1;
export const REF = 2;
export const ERROR = 3;
export type Kind = typeof BRANCH | typeof ATOM | typeof REF | typeof ERROR;

/** `$expires` of a value that never expires. */
export const NEVER = 1;

/** Children by key, without a prototype: `__proto__` and `constructor` are keys as any other. */
export type Kids = Record<string, Node | undefined>;

// An object of a constructor has a fast shape, which one of Object.create(null) has not.
const KidsOf = function () {} as unknown as new () => Kids;
KidsOf.prototype = Object.create(null) as object;

/** Place in the tree. */
export class Node {
  parent: Node | null;
  readonly key: string;
  kind: Kind;
  /** Whether the node is part of the tree. */
  isLive = true;
  kids: Kids;
  /** Number of children. */
  count = 0;
  /** Value of an atom or error, or the path of a reference. */
  value: unknown = undefined;
  /** The value as it was written, where that was no primitive. */
  box: Sentinel | undefined = undefined;
  /** Milliseconds since 1970, 0 for at once, or NEVER. */
  expires = NEVER;
  /** `$timestamp`, 0 for none. */
  timestamp = 0;
  /** Bytes of a leaf. */
  size = 0;
  /** Moment of the last local write of a leaf. Infinity while the write waits for the data source. */
  setAt = 0;
  /** Id of the last local write here. */
  setBy = 0;
  /** Time of the last use of a leaf, by the count of uses. */
  used = 0;
  /** Target of a reference, as last found. Only to be used while that is live. */
  target: Node | null = null;
  /** Subscriptions to children, by key. */
  watchers: Map<string, Set<Watcher>> | null = null;

  constructor(parent: Node | null, key: string, kind: Kind) {
    this.parent = parent;
    this.key = key;
    this.kind = kind;
    this.kids = kind === BRANCH ? new KidsOf() : noKids;
  }

  /** Drops children, as the node leaves the tree or becomes a leaf. */
  clear(): void {
    this.kids = noKids;
    this.count = 0;
  }
}

const noKids: Kids = Object.freeze(new KidsOf());

/** Path of a node from the root; the keys are strings. Holds for nodes that have left the tree, too. */
export function pathOf(node: Node): Key[] {
  const path: Key[] = [];
  for (let at = node; at.parent !== null; at = at.parent) path.push(at.key);
  return path.toReversed();
}
