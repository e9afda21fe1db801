/**
 * Turns of owners: everybody's first, then everybody's second. It must not know what waits.
 * Owners keep their lines themselves, so that no table of them is made anew again and again.
 */

/** Items of one owner that wait, first come first. */
export class Line<Item> {
  #items: Item[] = [];
  #next = 0;

  get isEmpty(): boolean {
    return this.#next === this.#items.length;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Returns the first item. */
  peek(): Item | undefined {
    return this.#items[this.#next];
  }

  /** Removes the first item. */
  take(): Item | undefined {
    const item = this.peek();
    if (item === undefined) return undefined;
    this.#next += 1;
    if (this.isEmpty) [this.#items, this.#next] = [[], 0];
    return item;
  }
}

export class Rounds<Item> {
  /** Lines in the order of their turns; none of them is empty. */
  #lines: Line<Item>[] = [];

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  push(line: Line<Item>, item: Item): void {
    if (line.isEmpty) this.#lines.push(line);
    line.push(item);
  }

  /** Removes the first item of a line that is not empty; the line's next turn stays where it is. */
  shift(line: Line<Item>): void {
    line.take();
    if (line.isEmpty) this.#lines.splice(this.#lines.indexOf(line), 1);
  }

  /** The first item of the line whose turn it is; that line's next turn comes after everybody else's. */
  take(): Item | undefined {
    const line = this.#lines.shift();
    const item = line?.take();
    if (line !== undefined && !line.isEmpty) this.#lines.push(line);
    return item;
  }
}
