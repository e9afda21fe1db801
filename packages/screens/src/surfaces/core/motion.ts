// Values on their way: transitions and animations, as functions of the time.
import { PROPERTY_OF } from '../../stream/facts.js';
import type { Transition } from './values.js';

/** `repeat` that has no end. */
const ENDLESS = 65_535;
const ALTERNATES = 1 << 16;

/** Control points of CSS's easings, in the order of their numbers. */
const CURVES = [
  undefined,
  [0.25, 0.1, 0.25, 1],
  [0.42, 0, 1, 1],
  [0, 0, 0.58, 1],
  [0.42, 0, 0.58, 1],
] as const;

export class Motion {
  readonly code: number;
  /** Whether a command `animate` began it: its end value stays until `stop`. */
  readonly isAnimation: boolean;
  readonly from: number;
  readonly to: number;
  readonly #timing: Transition;
  readonly #repeat: number | undefined;
  readonly #runs: number;
  readonly #alternates: boolean;
  /** Time at which its delay begins, milliseconds; not a number: with its first frame. */
  #start_ms: number;
  isDone = false;

  constructor(code: number, from: number, to: number, timing: Transition, start_ms: number, repeat?: number) {
    this.code = code;
    this.#repeat = repeat;
    this.#start_ms = start_ms;
    this.isAnimation = repeat !== undefined;
    this.from = from;
    this.to = to;
    this.#timing = timing;
    const further = (repeat ?? 0) & 0xffff;
    this.#runs = further === ENDLESS ? Number.POSITIVE_INFINITY : further + 1;
    this.#alternates = ((repeat ?? 0) & ALTERNATES) !== 0;
  }

  /** The same motion from another value. */
  withFrom(from: number): Motion {
    return new Motion(this.code, from, this.to, this.#timing, this.#start_ms, this.#repeat);
  }

  /** Value at the time. Until `delay` has passed it is `from`. */
  at(time_ms: number): number {
    if (Number.isNaN(this.#start_ms)) this.#start_ms = time_ms;
    const { duration_ms, delay_ms, easing } = this.#timing;
    const passed_ms = time_ms - this.#start_ms - delay_ms;
    if (passed_ms < 0) return this.from;
    const run = duration_ms > 0 ? passed_ms / duration_ms : this.#runs;
    if (run >= this.#runs || !Number.isFinite(run)) {
      this.isDone = true;
      return this.#isBack(Number.isFinite(this.#runs) ? this.#runs - 1 : 0) ? this.from : this.to;
    }
    const part = run - Math.floor(run);
    return between(
      this.code,
      this.from,
      this.to,
      ease(easing, this.#isBack(Math.floor(run)) ? 1 - part : part),
    );
  }

  #isBack(run: number): boolean {
    return this.#alternates && run % 2 === 1;
  }
}

/** Progress that an easing makes of the share of time, both 0 to 1. */
export function ease(easing: number, part: number): number {
  const curve = CURVES[easing];
  if (curve === undefined || part <= 0 || part >= 1) return part;
  const [x1, y1, x2, y2] = curve;
  let low = 0;
  let high = 1;
  for (let step = 0; step < 24; step += 1) {
    const middle = (low + high) / 2;
    if (bezier(x1, x2, middle) < part) low = middle;
    else high = middle;
  }
  return bezier(y1, y2, (low + high) / 2);
}

const bezier = (one: number, two: number, t: number): number =>
  3 * one * t * (1 - t) ** 2 + 3 * two * t ** 2 * (1 - t) + t ** 3;

function between(code: number, from: number, to: number, part: number): number {
  return PROPERTY_OF[code]?.type === 'color' ? mix(from, to, part) : from + (to - from) * part;
}

/** Colour between two, in premultiplied sRGB as in CSS. */
export function mix(from: number, to: number, part: number): number {
  const fromAlpha = from & 0xff;
  const toAlpha = to & 0xff;
  const alpha = fromAlpha + (toAlpha - fromAlpha) * part;
  if (alpha <= 0) return 0;
  let color = 0;
  for (let shift = 24; shift > 0; shift -= 8) {
    const one = ((from >>> shift) & 0xff) * fromAlpha;
    const other = ((to >>> shift) & 0xff) * toAlpha;
    color = color * 256 + Math.min(255, Math.round((one + (other - one) * part) / alpha));
  }
  return color * 256 + Math.round(alpha);
}
