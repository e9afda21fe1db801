/** Times in steps that grow by 7 %: a percentile is wrong by no more than that, and noting one allocates nothing. */
const FIRST_MS = 0.01;
const STEP = Math.log(1.07);
/** The last step begins at about six minutes. */
const STEPS = 258;

export interface Percentiles {
  readonly count: number;
  /** Milliseconds; 0 without any time. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export class Histogram {
  readonly #counts = new Uint32Array(STEPS);
  #count = 0;
  #max_ms = 0;

  add(ms: number): void {
    const step = ms <= FIRST_MS ? 0 : Math.min(Math.ceil(Math.log(ms / FIRST_MS) / STEP), STEPS - 1);
    this.#counts[step] = (this.#counts[step] as number) + 1;
    this.#count += 1;
    if (ms > this.#max_ms) this.#max_ms = ms;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#max_ms = 0;
  }

  percentiles(): Percentiles {
    return {
      count: this.#count,
      p50: this.#at(0.5),
      p95: this.#at(0.95),
      p99: this.#at(0.99),
      max: this.#max_ms,
    };
  }

  /** End of the step in which the share of all times is reached, milliseconds. */
  #at(share: number): number {
    if (this.#count === 0) return 0;
    let left = Math.ceil(share * this.#count);
    for (let step = 0; step < STEPS; step += 1) {
      left -= this.#counts[step] as number;
      if (left <= 0) return Math.min(FIRST_MS * Math.exp(step * STEP), this.#max_ms);
    }
    return this.#max_ms;
  }
}
