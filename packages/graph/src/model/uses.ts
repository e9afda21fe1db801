/** Order in which leaves were used. A use costs a number, and the order is made when leaves have to leave. */
import type { Node } from './node.js';

const SLACK = 1024;

/** Uses of the leaves of a cache. */
export class Uses {
  /** Number of leaves in the cache. */
  leaves = 0;
  /** Whether leaves have to leave at a bound, so that their uses count. */
  readonly isBounded: boolean;
  #clock = 0;
  /** Time of the last sort. */
  #since = 0;
  /** Leaves used since then, in the order of their first use since. */
  #recent: Node[] = [];
  /** Leaves as they were at the last sort, the least recently used first. Those before `#next` have left. */
  #sorted: (Node | undefined)[] = [];
  #next = 0;

  constructor(isBounded: boolean) {
    this.isBounded = isBounded;
  }

  /** Makes a leaf the most recently used. */
  touch(node: Node): void {
    if (!this.isBounded) return;
    if (node.used <= this.#since) this.#add(node);
    this.#clock += 1;
    node.used = this.#clock;
  }

  #add(node: Node): void {
    // Leaves that are gone are let go of, so that memory is bounded by what is there.
    if (this.#recent.length > 2 * this.leaves + SLACK)
      this.#recent = this.#recent.filter(({ isLive }) => isLive);
    this.#recent.push(node);
  }

  /** Least recently used leaf. It has to be removed before the next is asked for. */
  oldest(): Node | undefined {
    for (;;) {
      if (this.#next === this.#sorted.length && !this.#sort()) return undefined;
      const node = this.#sorted[this.#next];
      this.#sorted[this.#next] = undefined;
      this.#next += 1;
      if (node?.isLive === true && node.used <= this.#since) return node;
    }
  }

  #sort(): boolean {
    const recent = this.#recent.filter(({ isLive }) => isLive);
    this.#sorted = recent.sort((one, other) => one.used - other.used);
    this.#next = 0;
    this.#recent = [];
    this.#since = this.#clock;
    return recent.length > 0;
  }
}
