/**
 * Pace of a loop with a budget. The clock costs more than a cheap item, so it is read every so many items, of which the
 * number follows what they took so far. Pure: the clock is passed in.
 */

/** Number of looks at the clock in one budget, about. */
const LOOKS_PER_BUDGET = 16;
/** Largest number of items between two looks, so that a loop whose items become expensive at once is not far behind. */
const ITEMS_MAX = 1024;

export class Pace {
  readonly #budget_ms: number;
  readonly #now_ms: () => number;
  /** Items between two looks at the clock. */
  #items = 1;
  #left: number;
  #looked_ms = 0;
  /** Negative before the first look, if that comes late. */
  #began_ms = -1;

  /** `late`: number of items before the first look at the clock, which then begins the budget; with 0 it begins at once. */
  constructor(budget_ms: number, now_ms: () => number, late = 0) {
    this.#budget_ms = budget_ms;
    this.#now_ms = now_ms;
    this.#left = late + 1;
    if (late === 0) this.begin();
  }

  /** Whether a budget is used up by now; to be asked once an item. The next one then begins. */
  isUsedUp(): boolean {
    this.#left -= 1;
    return this.#left <= 0 && this.#look();
  }

  /** A budget begins. */
  begin(): void {
    this.#began_ms = this.#looked_ms = this.#now_ms();
  }

  #look(): boolean {
    const at_ms = this.#now_ms();
    if (this.#began_ms < 0) {
      this.#began_ms = this.#looked_ms = at_ms;
      this.#left = 1;
      return false;
    }
    this.#adapt(at_ms - this.#looked_ms);
    this.#looked_ms = at_ms;
    if (at_ms - this.#began_ms < this.#budget_ms) return false;
    this.#began_ms = at_ms;
    return true;
  }

  #adapt(took_ms: number): void {
    const aim_ms = this.#budget_ms / LOOKS_PER_BUDGET;
    if (took_ms < aim_ms) this.#items = Math.min(this.#items * 2, ITEMS_MAX);
    else if (took_ms > 2 * aim_ms) this.#items = Math.max(1, Math.floor((this.#items * aim_ms) / took_ms));
    this.#left = this.#items;
  }
}
