/** Durations in buckets, in memory that does not grow. It must not know what lasted so long. */
import { RUN_BOUNDS_US } from '../control/messages.js';

const BUCKETS = RUN_BOUNDS_US.length + 1;
const bounds_us = Float64Array.from([...RUN_BOUNDS_US, Infinity]);

export class RunHistogram {
  readonly #counts = new Float64Array(BUCKETS);
  readonly #time_us = new Float64Array(BUCKETS);

  /** Most durations are in the first buckets, so the search begins there. */
  add(us: number): void {
    let bucket = 0;
    while (us >= (bounds_us[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#time_us[bucket] = (this.#time_us[bucket] ?? 0) + us;
  }

  get counts(): number[] {
    return [...this.#counts];
  }

  get time_us(): number[] {
    return Array.from(this.#time_us, Math.round);
  }
}
