/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Places: the fewest moves that bring children into a new order. */
import type { WidgetNode } from './node.js';

/**
 * Marks the children that need no move: a longest run whose `index` grows. New ones have index -1.
 *
 * @returns whether child `i` stays, for each `i`
 */
export function stays(children: readonly WidgetNode[]): Uint8Array {
  const kept = new Uint8Array(children.length);
  const before = new Int32Array(children.length);
  /** `ends[n]`: the child with the smallest index that ends a run of length n + 1. */
  const ends: number[] = [];
  for (let i = 0; i < children.length; i++) {
    const { index } = children[i]!;
    if (index < 0) continue;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (children[ends[middle]!]!.index < index) low = middle + 1;
      else high = middle;
    }
    before[i] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = i;
  }
  for (let i = ends.length > 0 ? ends[ends.length - 1]! : -1; i >= 0; i = before[i]!) kept[i] = 1;
  return kept;
}
