/** Bytes that values take. */
import { BRANCH, type Node } from './node.js';

/** Bytes of a leaf without its value: the node, its place among its siblings, and its share of their parent. */
const LEAF_BYTES = 380;
/** Largest number of values of an object that the estimate visits. The rest counts like the mean of these. */
const LOOKED_AT = 1000;

/** Bytes of a leaf, or of the leaves below a branch. */
export function sizeOf({ kind, kids, key, box, value }: Node): number {
  if (kind === BRANCH) return (Object.values(kids) as Node[]).reduce((sum, kid) => sum + sizeOf(kid), 0);
  const { $size: size = bytesOf(value) } = box ?? {};
  return key.length + (Number.isFinite(size) && size > 0 ? size : 0);
}

/** Estimate of the bytes that a leaf with the value takes. */
export function bytesOf(value: unknown): number {
  return LEAF_BYTES + bytesIn(value, { left: LOOKED_AT });
}

function bytesIn(value: unknown, budget: { left: number }): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let bytes = 32;
  let seen = 0;
  for (; seen < values.length && budget.left > 0; seen += 1) {
    budget.left -= 1;
    bytes += 8 + bytesIn(values[seen], budget);
  }
  return seen === 0 || seen === values.length
    ? bytes + 8 * (values.length - seen)
    : (bytes * values.length) / seen;
}
