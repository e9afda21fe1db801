/**
 * Boxes that wait for something. Local boxes run in the order of the tree: one that a later one has overtaken waits for more
 * than its turn. It must not know how boxes are rendered.
 */

/** Turn of a box that has none. */
export const NO_TURN = -1;

export class Order {
  readonly #waiting = new Map<number, () => void>();
  #turns = 0;
  #passed = NO_TURN;

  /** Gives the next turn. */
  take(): number {
    this.#turns += 1;
    return this.#turns - 1;
  }

  /** The box with this turn is there. */
  pass(turn: number): void {
    if (turn <= this.#passed) return;
    this.#passed = turn;
    for (const [waiting, resolve] of this.#waiting) {
      if (waiting < turn) {
        this.#waiting.delete(waiting);
        resolve();
      }
    }
  }

  /** Resolves when the box waits for more than its turn. */
  async passed(turn: number): Promise<void> {
    if (turn === NO_TURN || turn < this.#passed) return;
    await new Promise<void>((resolve) => this.#waiting.set(turn, resolve));
  }
}
