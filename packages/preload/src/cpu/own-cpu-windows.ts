/**
 * Times at which the CPU time of requests that share the worker is measured: in windows, because the hooks that tell whose
 * continuation runs cost something at each of them. Pure; it must not know of hooks, clocks or async contexts.
 *
 * A window opens when a request comes while another is inside. It first waits until those that were inside before have
 * left (`opening`), so that everything that runs then has a context. Requests that come next are measured (`open`), for
 * 200 ms and twice as long as the opening took; the window lasts until they have left (`draining`). A pause follows, which
 * is a multiple of the window's length. The factor is 4 until 200 requests have been measured, with at most 5 s: a fifth of
 * the time is measured. It is 9 from then on, with at most 30 s: a tenth is measured. The longest pause follows a window in
 * which nearly all requests were of light classes, because that measured next to nothing.
 *
 * The first windows of a new worker are open for 5 s or until 200 requests have been measured, and have no pause until there are
 * 100. Long requests run before short ones while the cost of requests is unknown.
 */

export type Phase = 'off' | 'opening' | 'open' | 'draining';

/** Maximum wait for earlier requests in the app. Their later work has no context, and counts as lost. */
const OPENING_MS_MAX = 1_000;
const OPEN_MS_MIN = 200;
/** The same of a new worker, until it has measured so many requests. */
const OPEN_MS_MIN_NEW = 5_000;
const NEW_REQUESTS = 100;
/** Requests take about as long as the opening does, and the draining too; half of a window is then spent on measuring. */
const OPEN_PER_OPENING = 2;
/** Maximum wait for measured requests. The costs of longer ones stay unknown. */
const DRAINING_MS_MAX = 5_000;
/** Time without a window, as a multiple of the window before: a fifth of the time is measured first, a tenth later. */
const PAUSE_FACTOR_FIRST = 4;
const PAUSE_FACTOR = 9;
const FIRST_REQUESTS = 200;
/** The first as long as few are measured. */
const PAUSE_MS_MAX_FIRST = 5_000;
/** Maximum pause between two windows that measure the CPU time of requests. */
const PAUSE_MS_MAX = 30_000;
/** Measured requests of light classes for each other one; a window with more of them was nearly useless. */
const LIGHT_PER_OTHER = 16;

export class Windows {
  readonly #open_ms_min: number;
  readonly #open_ms_min_new: number;
  #phase: Phase = 'off';
  #began_ms = 0;
  #openUntil_ms = 0;
  #pausedUntil_ms = Number.NEGATIVE_INFINITY;
  /** Requests inside that came before the window. */
  #before = 0;
  /** Measured requests that are inside, and all of them so far. */
  #measured = 0;
  #measured_total = 0;
  /** Measured requests of this window: of light classes, and others. */
  #light = 0;
  #others = 0;

  constructor(open_ms_min = OPEN_MS_MIN, open_ms_min_new = OPEN_MS_MIN_NEW) {
    this.#open_ms_min = open_ms_min;
    this.#open_ms_min_new = open_ms_min_new;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** A request comes while so many others are inside. True when it is to be measured. */
  enter(now_ms: number, inside: number, isLight = false): boolean {
    if (this.#phase === 'off') {
      if (inside === 0 || now_ms < this.#pausedUntil_ms) return false;
      this.#phase = 'opening';
      this.#began_ms = now_ms;
      this.#before = inside;
      return false;
    }
    this.look(now_ms);
    if (this.#phase !== 'open') return false;
    this.#measured += 1;
    if (isLight) this.#light += 1;
    else this.#others += 1;
    return true;
  }

  /** A request leaves that came before the window, or in it. */
  leave(now_ms: number, cameBefore: boolean, isMeasured: boolean): void {
    if (this.#phase === 'off') return;
    if (cameBefore) this.#before -= 1;
    if (isMeasured) {
      this.#measured -= 1;
      this.#measured_total += 1;
      const isHeld = this.#openUntil_ms === Number.POSITIVE_INFINITY;
      if (this.#measured_total === FIRST_REQUESTS && !isHeld)
        this.#openUntil_ms = Math.min(this.#openUntil_ms, now_ms);
    }
    this.look(now_ms);
  }

  /** Opens a window at once, even with requests inside, and keeps it open until it is released. */
  hold(now_ms: number, isHeld: boolean): void {
    if (this.#phase === 'off') {
      if (!isHeld) return;
      this.#began_ms = now_ms;
      this.#before = 0;
    }
    this.#phase = 'open';
    this.#openUntil_ms = isHeld ? Number.POSITIVE_INFINITY : now_ms;
    this.look(now_ms);
  }

  look(now_ms: number): void {
    const { phase } = this;
    if (phase === 'opening') {
      if (this.#before > 0 && now_ms < this.#began_ms + OPENING_MS_MAX) return;
      this.#phase = 'open';
      const open_ms_min = this.#isNew ? this.#open_ms_min_new : this.#open_ms_min;
      this.#openUntil_ms = now_ms + open_ms_min + OPEN_PER_OPENING * (now_ms - this.#began_ms);
    } else if (phase === 'open') {
      if (now_ms < this.#openUntil_ms) return;
      this.#phase = 'draining';
      this.#end(now_ms);
    } else if (phase === 'draining') this.#end(now_ms);
  }

  #end(now_ms: number): void {
    if (this.#measured > 0 && now_ms < this.#openUntil_ms + DRAINING_MS_MAX) return;
    this.#phase = 'off';
    this.#measured = 0;
    this.#pausedUntil_ms = now_ms + this.#pause_ms(now_ms - this.#began_ms);
    this.#light = 0;
    this.#others = 0;
  }

  get #isNew(): boolean {
    return this.#measured_total < NEW_REQUESTS;
  }

  #pause_ms(window_ms: number): number {
    if (this.#light > LIGHT_PER_OTHER * this.#others) return PAUSE_MS_MAX;
    if (this.#isNew) return 0;
    if (this.#measured_total >= FIRST_REQUESTS) return Math.min(PAUSE_FACTOR * window_ms, PAUSE_MS_MAX);
    return Math.min(PAUSE_FACTOR_FIRST * window_ms, PAUSE_MS_MAX_FIRST);
  }
}
