/**
 * `useId`: an id that spells the way from the root to the component, one group of bits for each array of children (index in length). The
 * way is kept as two stacks of integers and spelled out only when a component asks.
 */

/** Index of a node that is no array's child. */
export const ALONE = -1;

export interface TreeId {
  /** Bits, up to 30, with a leading one. */
  readonly bits: number;
  /** Base 32 digits that did not fit. */
  readonly overflow: string;
}

export const ROOT_ID: TreeId = { bits: 1, overflow: '' };

const BITS_MAX = 30;

export function forkedId(
  base: TreeId,
  lengths: readonly number[],
  indexes: readonly number[],
  forks: number,
): TreeId {
  let { bits, overflow } = base;
  for (let at = 0; at < forks; at += 1) {
    const index = (indexes[at] as number) + 1;
    const width = 32 - Math.clz32(lengths[at] as number);
    let used = 31 - Math.clz32(bits);
    bits &= ~(1 << used);
    if (width + used > BITS_MAX) {
      const whole = used - (used % 5);
      overflow = (bits & ((1 << whole) - 1)).toString(32) + overflow;
      bits >>= whole;
      used -= whole;
    }
    bits |= (1 << (width + used)) | (index << used);
  }
  return forks === 0 ? base : { bits, overflow };
}

export function spellId({ bits, overflow }: TreeId): string {
  return (bits & ~(1 << (31 - Math.clz32(bits)))).toString(32) + overflow;
}
