/**
 * Boxes that wait for something. Local boxes run in the order of the tree: one that a later one has overtaken waits for more
 * than its turn. It must not know how boxes are rendered.
 */
import type { Box } from './plan.js';

export class Order {
  readonly #places = new Map<Box, number>();
  readonly #waiting = new Map<number, () => void>();
  #passed = -1;

  take(box: Box): void {
    this.#places.set(box, this.#places.size);
  }

  pass(box: Box): void {
    const place = this.#places.get(box);
    if (place === undefined || place <= this.#passed) return;
    this.#passed = place;
    for (const [waiting, resolve] of this.#waiting) {
      if (waiting < place) {
        this.#waiting.delete(waiting);
        resolve();
      }
    }
  }

  async passed(box: Box): Promise<void> {
    const place = this.#places.get(box);
    if (place === undefined || place < this.#passed) return;
    await new Promise<void>((resolve) => this.#waiting.set(place, resolve));
  }
}
