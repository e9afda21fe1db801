/** Decision of a loop to yield: its budget is used up, and somebody waits or none has had a turn for long. */
import { findHost } from './host.js';
import { Pace } from './pace.js';
import { lastTurn_ms, nextTurn, now_ms } from './turns.js';

const BUDGET_MS = 10;
const BUDGET_MS_MIN = 0.1;
const BUDGET_MS_MAX = 1000;
/** A loop yields so often even if nobody is known to wait: timers, aborts and Sluice's own control channel need it. */
const PAUSE_MS_MAX = 50;

export interface BreatheOptions {
  /** Milliseconds for which a loop may run before it lets others in, 0.1 to 1000. Default 10. */
  readonly budget_ms?: number;
  /** Ends the loop with the signal's reason, at the next turn after the abort. */
  readonly signal?: AbortSignal;
}

export interface BreatherOptions extends BreatheOptions {
  /** Turns of the loop before its budget begins, from 0, the default. A loop that ends sooner never reads the clock. */
  readonly late_turns?: number;
}

/**
 * Decides for one loop when to yield. For loops of cheap items, below about 50 µs each, for which an `await` an item costs too much:
 *
 *     const breather = new Breather();
 *     for (const row of rows) {
 *       if (breather.isDue()) await breather.breathe();
 *       sum += row.price;
 *     }
 */
export class Breather {
  readonly #pace: Pace;
  readonly #signal: AbortSignal | undefined;

  /** @throws {RangeError} for a budget or a number of turns out of range. */
  constructor({ budget_ms = BUDGET_MS, late_turns = 0, signal }: BreatherOptions = {}) {
    checkBudget(budget_ms);
    if (!Number.isSafeInteger(late_turns) || late_turns < 0) {
      throw new RangeError(`late_turns is ${late_turns}; it must be a whole number from 0`);
    }
    this.#pace = new Pace(budget_ms, now_ms, late_turns);
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** Whether the loop should `breathe()` before its next item. To be called once an item. */
  isDue(): boolean {
    return this.#pace.isUsedUp() && mustYield();
  }

  /**
   * Lets others in, whatever `isDue()` said: resolves after a turn of the event loop.
   * Rejects with the signal's reason once that is aborted.
   */
  async breathe(): Promise<void> {
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#pace.begin();
  }
}

/** Time of the last look by `breathe()`. Between two calls no more is known of a loop than that it was here. */
let looked_ms = Number.NEGATIVE_INFINITY;

/**
 * Lets others in if the budget is used up since the thread's last turn and somebody waits. To be awaited once an item, in loops
 * whose items take 100 µs and more:
 *
 *     for (const page of pages) {
 *       await breathe();
 *       render(page);
 *     }
 *
 * Returns nothing where there is nothing to wait for.
 * @throws {RangeError} for a budget out of range.
 */
export function breathe({ budget_ms = BUDGET_MS, signal }: BreatheOptions = {}): Promise<void> | undefined {
  checkBudget(budget_ms);
  signal?.throwIfAborted();
  const at_ms = now_ms();
  if (at_ms - Math.max(looked_ms, lastTurn_ms()) < budget_ms) return undefined;
  looked_ms = at_ms;
  if (!mustYield()) return undefined;
  return signal === undefined ? nextTurn() : nextTurn().then(() => signal.throwIfAborted());
}

/** Whether a loop has to yield; without Sluice nobody can say who waits, so a loop then yields after each budget. */
function mustYield(): boolean {
  const host = findHost();
  // Asked in any case: it tells the gateway as well that a loop runs here.
  const isWanted = host === undefined || host.somebodyWaits();
  return isWanted || now_ms() - lastTurn_ms() >= PAUSE_MS_MAX;
}

function checkBudget(budget_ms: number): void {
  if (budget_ms >= BUDGET_MS_MIN && budget_ms <= BUDGET_MS_MAX) return;
  throw new RangeError(
    `budget_ms is ${budget_ms}; it must be a number of milliseconds from ${BUDGET_MS_MIN} to ${BUDGET_MS_MAX}`,
  );
}
