/** JSON from outside that pages are made of: bounded in depth, as values are compared and copied step by step. */
import { InvalidPropsError } from '../tasks/errors.js';
import { tameProps } from '../tasks/props.js';

/** Bounds objects and arrays within each other. */
export const DATA_DEPTH_MAX = 256;

/** Removes keys named `__proto__`, in place. False where the data is nested deeper than `DATA_DEPTH_MAX`. */
export function tameData(data: unknown): boolean {
  try {
    tameProps(data, { depthMax: DATA_DEPTH_MAX, valuesMax: Number.POSITIVE_INFINITY });
    return true;
  } catch (error) {
    if (error instanceof InvalidPropsError) return false;
    throw error;
  }
}
