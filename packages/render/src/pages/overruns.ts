/**
 * Components that go over their CPU budget again and again are left to the browser for a while, because a synchronous render
 * cannot be interrupted and every page would wait for it. It must not know how they are rendered.
 */

export interface OverrunsOptions {
  /** Renders over budget, one after the other, until a component is suspended; default 5. */
  readonly max?: number;
  /** Seconds until one render tries it again; default 10. */
  readonly suspendS?: number;
}

const MAX = 5;
const SUSPEND_S = 10;

interface Count {
  overruns: number;
  suspendedUntil_ms: number;
}

export class Overruns {
  readonly #max: number;
  readonly #suspend_ms: number;
  /** Of components that went over their budget the last time; no more than are registered. */
  readonly #counts = new Map<string, Count>();

  constructor({ max = MAX, suspendS = SUSPEND_S }: OverrunsOptions = {}) {
    this.#max = max;
    this.#suspend_ms = suspendS * 1000;
  }

  /** False once after the time is over: that render tries it. */
  isSuspended(component: string, now_ms: number): boolean {
    const count = this.#counts.get(component);
    if (count === undefined || count.overruns < this.#max) return false;
    if (now_ms < count.suspendedUntil_ms) return true;
    count.suspendedUntil_ms = now_ms + this.#suspend_ms;
    return false;
  }

  note(component: string, isOverBudget: boolean, now_ms: number): void {
    if (!isOverBudget) {
      this.#counts.delete(component);
      return;
    }
    const count = this.#counts.get(component) ?? { overruns: 0, suspendedUntil_ms: 0 };
    count.overruns += 1;
    if (count.overruns >= this.#max) count.suspendedUntil_ms = now_ms + this.#suspend_ms;
    this.#counts.set(component, count);
  }
}
