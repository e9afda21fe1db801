/**
 * Reports on components to the page, as DOM events on their boxes that bubble: `sluice:ready`, `sluice:mismatch`,
 * `sluice:failed`. Errors are on the console as well, so that nothing is silent.
 */

/** - `code`: the code did not come, twice; perhaps the page is older than the latest deploy.
 *  - `unknown`: the page's build has no such component.
 *  - `props`: the props are no state that can be read, or did not come.
 *  - `render`: the component threw.
 */
export type FailureReason = 'code' | 'unknown' | 'props' | 'render';

export interface FailedDetail {
  readonly component: string;
  readonly reason: FailureReason;
  readonly error: unknown;
}

export interface MismatchDetail {
  readonly component: string;
  readonly error: unknown;
}

export interface Counts {
  mismatches: number;
  failed: number;
}

export interface Ready {
  at_ms?: number;
}

/** Counts of this page view, which beacons carry. */
export const counts: Counts = { mismatches: 0, failed: 0 };
/** Time of the latest component that was hydrated as soon as it was there, by `performance.now`. */
export const ready: Ready = {};

function tell(box: Element, type: string, detail: object): void {
  box.dispatchEvent(new CustomEvent(type, { bubbles: true, detail }));
}

export function tellReady(box: Element, component: string): void {
  if (box.matches('[on=load]')) ready.at_ms = performance.now();
  tell(box, 'sluice:ready', { component });
}

export function tellMismatch(box: Element, component: string, error: unknown): void {
  counts.mismatches += 1;
  console.error(`[sluice] ${component}: hydration mismatch`, error);
  tell(box, 'sluice:mismatch', { component, error });
}

export function tellFailed(box: Element, component: string, reason: FailureReason, error: unknown): void {
  counts.failed += 1;
  console.error(`[sluice] ${component}: ${reason}`, error);
  tell(box, 'sluice:failed', { component, reason, error });
}

declare global {
  interface DocumentEventMap {
    'sluice:ready': CustomEvent<{ readonly component: string }>;
    'sluice:mismatch': CustomEvent<MismatchDetail>;
    'sluice:failed': CustomEvent<FailedDetail>;
  }
}
