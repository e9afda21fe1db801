/**
 * Suspension of components that go over their CPU budget repeatedly. The browser renders them for a while, because a synchronous
 * render cannot be interrupted and every page would wait for it. The first time is short and each further one twice as long. Props
 * that one visitor chose may cost too much while those of the next do not, and nobody is to switch a component off for all with
 * them. Under Sluice the counts are those of all workers: one that a render blocked is replaced, and its counts would go with it. It
 * must not know how components are rendered.
 */
import type { OverrunCount, RenderHost } from '../host.js';

export interface OverrunsOptions {
  /** Renders over budget, one after the other, until a component is suspended; default 5. */
  readonly max?: number;
  /** Seconds at most until one render tries it again; default 10. The first time is a tenth of it; it doubles with each try that fails. */
  readonly suspendS?: number;
}

const MAX = 5;
const SUSPEND_S = 10;
/** Part of the longest suspension that the first one takes. */
const FIRST_PART = 0.1;

interface Count {
  overruns: number;
  suspendedUntil_ms: number;
}

export class Overruns {
  readonly #max: number;
  readonly #suspend_ms: number;
  readonly #host: () => RenderHost | undefined;
  /** Counts of components that went over their budget the last time; no more than are registered. */
  readonly #counts = new Map<string, Count>();
  /** Latest counts of the host. */
  #adopted: Readonly<Record<string, OverrunCount>> | undefined;

  constructor(
    { max = MAX, suspendS = SUSPEND_S }: OverrunsOptions = {},
    host: () => RenderHost | undefined = () => undefined,
  ) {
    this.#max = max;
    this.#suspend_ms = suspendS * 1000;
    this.#host = host;
  }

  /** False once after the time is over: that render tries it. */
  isSuspended(component: string, now_ms: number): boolean {
    this.#adopt();
    const count = this.#counts.get(component);
    if (count === undefined || count.overruns < this.#max) return false;
    if (now_ms < count.suspendedUntil_ms) return true;
    // Until it is known how the try ends, which may be a while, the others stay away.
    count.suspendedUntil_ms = now_ms + this.#lasts_ms(count);
    return false;
  }

  note(component: string, isOverBudget: boolean, now_ms: number): void {
    this.#adopt();
    const known = this.#counts.get(component);
    if (isOverBudget || known !== undefined) this.#host()?.overran?.(component, isOverBudget);
    if (!isOverBudget) {
      this.#counts.delete(component);
      return;
    }
    const count = known ?? { overruns: 0, suspendedUntil_ms: 0 };
    count.overruns += 1;
    if (count.overruns >= this.#max) count.suspendedUntil_ms = now_ms + this.#lasts_ms(count);
    this.#counts.set(component, count);
  }

  /** The host's counts, in place of those that are here. What is tried here stays tried. */
  #adopt(): void {
    const told = this.#host()?.overruns?.();
    if (told === undefined || told === this.#adopted) return;
    this.#adopted = told;
    for (const component of this.#counts.keys())
      if (!Object.hasOwn(told, component)) this.#counts.delete(component);
    for (const [component, { count, at_ms }] of Object.entries(told)) {
      const { suspendedUntil_ms = 0 } = this.#counts.get(component) ?? {};
      const adopted: Count = { overruns: count, suspendedUntil_ms };
      if (count >= this.#max)
        adopted.suspendedUntil_ms = Math.max(suspendedUntil_ms, at_ms + this.#lasts_ms(adopted));
      this.#counts.set(component, adopted);
    }
  }

  #lasts_ms({ overruns }: Count): number {
    const doublings = Math.min(Math.max(overruns - this.#max, 0), 30);
    return Math.min(this.#suspend_ms, this.#suspend_ms * FIRST_PART * 2 ** doublings);
  }
}
