/**
 * Counts of `@sluice/react`'s renders in this process, and of those that it left to react-dom: told with a beat if they
 * have changed. Every copy of that package in the process registers itself; this package must not know it otherwise.
 */
import type { ToGateway } from '../control/messages.js';

/** Entry of each copy of the renderer in the list at this key. The number changes with the shape. */
const copiesKey = Symbol.for('sluice.react.copies.1');

/** Calls `run` with what follows, so that its own name is on the stack. */
export type Frame = (run: (...rest: never[]) => void, ...rest: unknown[]) => void;

type Counts = ReturnType<Copy['statistics']>;

interface Copy {
  statistics(): { readonly renders: number; readonly reasons: Readonly<Record<string, number>> };
  /** Renders every component from now on within the frame that `make` gives for its name; null ends it. */
  nameFrames(make: ((name: string) => Frame) | null): void;
}

/** Maximum number of reasons reported by name. Those that come later count as `other`. */
const REASONS_MAX = 24;
/** Maximum stored length of a reason, characters. */
const REASON_CHARACTERS_MAX = 80;
const OTHER = 'other';
/** Requests after which an app that renders React would have loaded what renders it. */
const REQUESTS_TO_TELL = 20;

export function reactCopies(): readonly Copy[] {
  return (globalThis as { readonly [copiesKey]?: readonly Copy[] })[copiesKey] ?? [];
}

export class ReactRenders {
  readonly #isExpected: boolean;
  readonly #named = new Set<string>();
  #told_total = 0;
  #isToldUnused = false;

  /** `isExpected`: the configuration wants the renderer used. */
  constructor(isExpected: boolean) {
    this.#isExpected = isExpected;
  }

  /** Counts that the gateway does not know yet. `answered`: requests so far. */
  news(answered: number): ToGateway | undefined {
    const copies = reactCopies();
    if (copies.length === 0) return this.#unused(answered);
    const { renders, reasons } = this.#sum(copies);
    const total = renders + Object.values(reasons).reduce((sum, count) => sum + count, 0);
    if (total === this.#told_total) return undefined;
    this.#told_total = total;
    return { type: 'react', renders, reasons };
  }

  #sum(copies: readonly Copy[]): Counts {
    let renders = 0;
    const reasons: Record<string, number> = {};
    for (const copy of copies) {
      const counted = copy.statistics();
      renders += counted.renders;
      for (const [reason, count] of Object.entries(counted.reasons)) {
        const name = this.#nameOf(reason);
        reasons[name] = (reasons[name] ?? 0) + count;
      }
    }
    return { renders, reasons };
  }

  /** Returns the name of a reason. It keeps its name, so that no count ever falls. */
  #nameOf(reason: string): string {
    const name = reason.slice(0, REASON_CHARACTERS_MAX);
    if (this.#named.has(name)) return name;
    if (this.#named.size >= REASONS_MAX) return OTHER;
    this.#named.add(name);
    return name;
  }

  #unused(answered: number): ToGateway | undefined {
    if (!this.#isExpected || this.#isToldUnused || answered < REQUESTS_TO_TELL) return undefined;
    this.#isToldUnused = true;
    const why = `after ${answered} requests, the thread that serves has loaded no server module of react-dom from node_modules; a bundle with react-dom inside stays as it is`;
    return { type: 'react-off', why };
  }
}
