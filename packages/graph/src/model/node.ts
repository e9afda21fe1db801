/** Nodes of the cache's tree. One class for branches and leaves keeps every access to one shape. */
import type { Key, Sentinel } from '../types.js';
import type { Watcher } from './watch.js';

export const BRANCH = 0;
export const ATOM = 1;
export const REF = 2;
export const ERROR = 3;
/** Kind of a node that has left the tree. */
export const GONE = 4;
export type Kind = typeof BRANCH | typeof ATOM | typeof REF | typeof ERROR | typeof GONE;

/** Largest number of references that follow each other. */
export const HOPS = 64;

/** `$expires` of a value that never expires. */
export const NEVER = 1;

/** Moment of a write that the data source has not answered: later than all others, and a small integer as they are. */
export const PENDING = 2 ** 30 - 1;

/** Children by key, without a prototype: `__proto__` and `constructor` are keys as any other. */
export type Kids = Record<string, Node | undefined>;

// An object of a constructor has a fast shape, which one of Object.create(null) has not.
const KidsOf = function () {} as unknown as new () => Kids;
KidsOf.prototype = Object.create(null) as object;

/** Children of leaves, and of nodes that have left the tree. */
const noKids: Kids = Object.freeze(new KidsOf());

/** Place in the tree. The first fields are those that reads use: they share a line of the processor's cache. */
export class Node {
  kind: Kind = BRANCH;
  /** Milliseconds since 1970, 0 for at once, or NEVER. */
  expires = NEVER;
  kids: Kids = noKids;
  /** Value of an atom or error, or the path of a reference. */
  value: unknown = undefined;
  /** Target of a reference, as last found. Only to be used while that is live. */
  target: Node | null = null;
  /** Time of the last use of a leaf, by the count of uses. */
  used = 0;
  readonly parent: Node | null;
  readonly key: string;
  /** Number of children. */
  count = 0;
  /** The value as it was written, where that was no primitive. */
  box: Sentinel | undefined = undefined;
  /** `$timestamp`, 0 for none. */
  timestamp = 0;
  /** Bytes of a leaf, where they have a bound. */
  size = 0;
  /** Moment of the last local write or call that made a leaf, PENDING while the write waits for the data source. */
  setAt = 0;
  /** Id of the last local write or call here. */
  setBy = 0;
  /** Subscriptions to children, by key. */
  watchers: Map<string, Set<Watcher>> | null = null;

  constructor(parent: Node | null, key: string, kind: Kind) {
    this.kind = kind;
    if (kind === BRANCH) this.kids = new KidsOf();
    this.parent = parent;
    this.key = key;
  }

  /** Whether the node is part of the tree. */
  get isLive(): boolean {
    return this.kind !== GONE;
  }

  /** Takes the node's content, as it leaves the tree. */
  clear(): void {
    this.kind = GONE;
    this.kids = noKids;
    this.count = 0;
    this.value = undefined;
    this.box = undefined;
    this.target = null;
  }
}

/** Path of a node from the root; the keys are strings. Holds for nodes that have left the tree, too. */
export function pathOf(node: Node): Key[] {
  const path: Key[] = [];
  for (let at = node; at.parent !== null; at = at.parent) path.push(at.key);
  return path.toReversed();
}
