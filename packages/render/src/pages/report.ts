/** Fate of a page and each of its boxes. It must not know how they were rendered. */
import type { Outcome } from '../host.js';

export interface BoxReport {
  readonly id: string;
  readonly component: string;
  readonly version: string | undefined;
  readonly outcome: Outcome;
  /** A part of its HTML has failed, such as a Suspense boundary of React, and is the browser's to render. */
  readonly isPartial: boolean;
  /** CPU time of this component alone, in microseconds. */
  readonly cpu_us: number;
  /** Time until its render began, in microseconds. */
  readonly waited_us: number;
  readonly error: string | undefined;
}

export interface PageReport {
  readonly page: string | undefined;
  readonly status: number;
  /** Reports in the order of the document. */
  readonly boxes: readonly BoxReport[];
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  /** Sum of the boxes, in microseconds. */
  readonly cpu_us: number;
  /** Setting of the dial: `s100`. */
  readonly setting: string;
  /** Arms of the experiments that had a say. */
  readonly variants: Readonly<Record<string, string>>;
}

/** Outcomes with HTML of the server. */
const HTML: ReadonlySet<Outcome> = new Set<Outcome>(['rendered', 'cached', 'over-budget']);
/** Outcomes that nobody wanted. */
export function isFailure(outcome: Outcome): boolean {
  return !HTML.has(outcome) && outcome !== 'client' && outcome !== 'unsupported';
}

export function outcomesOf(boxes: readonly BoxReport[]): Readonly<Partial<Record<Outcome, number>>> {
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of boxes) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return outcomes;
}

/**
 * Writes `Server-Timing` of pages that are sent whole: `boxes;desc="59 of 60", late;desc="1", cpu;dur=12.3`. Durations
 * are milliseconds.
 */
export function serverTiming({
  boxes,
  outcomes,
  cpu_us,
}: Pick<PageReport, 'boxes' | 'outcomes' | 'cpu_us'>): string {
  const failed = Object.entries(outcomes).filter(([outcome]) => isFailure(outcome as Outcome));
  const good = boxes.length - failed.reduce((sum, [, count]) => sum + count, 0);
  return [
    `boxes;desc="${good} of ${boxes.length}"`,
    ...failed.map(([outcome, count]) => `${outcome};desc="${count}"`),
    `cpu;dur=${(cpu_us / 1000).toFixed(1)}`,
  ].join(', ');
}
