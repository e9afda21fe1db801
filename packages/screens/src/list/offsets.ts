// Places of items along a list, in pixels. Sizes by a function are asked for as far as the list has been seen, and once each.

export type ItemSize = number | ((index: number) => number);

export class Offsets {
  readonly #size: ItemSize;
  readonly #count: number;
  /** Ends of the items asked for so far. */
  #ends: Float64Array;
  #known = 0;

  constructor(size: ItemSize, count: number) {
    this.#size = size;
    this.#count = count;
    this.#ends = new Float64Array(typeof size === 'number' ? 0 : Math.min(count, 64));
  }

  /** Start of an item, 0 to count; the start after the last is the end. */
  start(index: number): number {
    if (typeof this.#size === 'number') return index * this.#size;
    return index === 0 ? 0 : this.#end(Math.min(index, this.#count) - 1);
  }

  size(index: number): number {
    return this.start(index + 1) - this.start(index);
  }

  /** First item that ends behind the place. */
  at(place: number): number {
    if (this.#count === 0) return 0;
    if (typeof this.#size === 'number') return clamp(Math.floor(place / this.#size), this.#count);
    let low = 0;
    // Doubles until an end lies behind the place: no more sizes are asked for than that.
    let high = 1;
    while (high < this.#count && this.#end(high - 1) <= place) high = Math.min(2 * high, this.#count);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#end(middle) <= place) low = middle + 1;
      else high = middle;
    }
    return clamp(low, this.#count);
  }

  /** End of all items, if it comes before the place; otherwise the place. */
  endBefore(place: number): number {
    if (this.#count === 0) return 0;
    const last = this.at(place);
    return last === this.#count - 1 ? Math.min(this.start(this.#count), place) : place;
  }

  #end(index: number): number {
    while (this.#known <= index) {
      if (this.#known === this.#ends.length) {
        const grown = new Float64Array(Math.min(2 * this.#ends.length, this.#count));
        grown.set(this.#ends);
        this.#ends = grown;
      }
      const before = this.#known === 0 ? 0 : (this.#ends[this.#known - 1] as number);
      const size = (this.#size as (index: number) => number)(this.#known);
      this.#ends[this.#known] = before + (size > 0 ? size : 0);
      this.#known += 1;
    }
    return this.#ends[index] as number;
  }
}

const clamp = (index: number, count: number): number => Math.min(Math.max(index, 0), count - 1);
