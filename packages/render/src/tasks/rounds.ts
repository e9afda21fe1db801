/** Turns of owners: everybody's first, then everybody's second. It must not know what waits. */

export class Rounds<Owner, Item> {
  /** Owners in the order of their turns; what they have waiting, first come first. */
  readonly #waiting = new Map<Owner, Item[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  push(owner: Owner, item: Item): void {
    const items = this.#waiting.get(owner);
    if (items === undefined) this.#waiting.set(owner, [item]);
    else items.push(item);
  }

  /** Returns the first waiting item of an owner. */
  peek(owner: Owner): Item | undefined {
    return this.#waiting.get(owner)?.[0];
  }

  /** Removes what `peek` gives; the owner's next turn stays where it is. */
  shift(owner: Owner): void {
    const items = this.#waiting.get(owner);
    items?.shift();
    if (items?.length === 0) this.#waiting.delete(owner);
  }

  /** The first item of the owner whose turn it is; that owner's next turn comes after everybody else's. */
  take(): Item | undefined {
    for (const [owner, items] of this.#waiting) {
      this.#waiting.delete(owner);
      const item = items.shift();
      if (items.length > 0) this.#waiting.set(owner, items);
      return item;
    }
    return undefined;
  }
}
