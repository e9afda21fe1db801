/**
 * Invariant I1 inside the process: the app never holds more requests than allowed, however they arrive. Pure
 * bookkeeping; it must not know what a request is, nor decide when one has ended.
 */

export interface Entrant {
  /** Called when the app may have it; at once or later. */
  enter(): void;
  /** Called instead when too many wait already. */
  refuse(): void;
}

export class Gate {
  readonly #held_max: () => number;
  readonly #waiting_max: number;
  readonly #waiting: Entrant[] = [];
  #held = 0;

  /** `held_max` may become less while requests are held. */
  constructor(held_max: () => number, waiting_max: number) {
    this.#held_max = held_max;
    this.#waiting_max = waiting_max;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** True when the caller may go straight on; it then holds a place until `leave()`. */
  tryEnter(): boolean {
    if (this.#held >= this.#held_max()) return false;
    this.#held += 1;
    return true;
  }

  wait(entrant: Entrant): void {
    if (this.#waiting.length >= this.#waiting_max) entrant.refuse();
    else this.#waiting.push(entrant);
  }

  isWaiting(entrant: Entrant): boolean {
    return this.#waiting.includes(entrant);
  }

  /** True when it was still waiting: it then enters no more. */
  withdraw(entrant: Entrant): boolean {
    const at = this.#waiting.indexOf(entrant);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  leave(): void {
    this.#held -= 1;
    while (this.#waiting.length > 0 && this.#held < this.#held_max()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#held += 1;
      next.enter();
    }
  }
}
