import type { FocusNode } from './node.js';
import { around } from './order.js';

/** Way from a widget up to the root, as it was: from there the focus finds on when the widget is gone. */
export class Trail {
  /** Widgets above, nearest first. */
  #above: FocusNode[] = [];
  /** Place of the way in each of them. */
  #places: number[] = [];

  note(node: FocusNode): void {
    this.#above.length = 0;
    this.#places.length = 0;
    let below = node;
    for (let above = node.parent; above !== null; above = above.parent) {
      this.#above.push(above);
      this.#places.push(above.children.indexOf(below));
      below = above;
    }
  }

  /** Nearest stop to the widget that `takes` turns into a target: among its neighbours, then outward. Null if there is none. */
  back(takes: (stop: FocusNode) => FocusNode | null): FocusNode | null {
    for (let index = this.#innermost(); index < this.#above.length; index += 1) {
      const stop = around(this.#above[index] as FocusNode, this.#places[index] as number);
      const target = stop && takes(stop);
      if (target) return target;
    }
    return null;
  }

  /** Innermost of the widgets above that is still in the tree, where it was. */
  #innermost(): number {
    let index = this.#above.length - 1;
    for (; index > 0; index -= 1) {
      const below = this.#above[index - 1] as FocusNode;
      const above = this.#above[index] as FocusNode;
      if (below.parent !== above || !above.children.includes(below)) break;
    }
    return Math.max(index, 0);
  }
}
