/**
 * How long the event loop was blocked. A timer that fires late tells by how much; up to one interval of a block goes
 * unseen. Node's own `monitorEventLoopDelay` forgets the interval in which it is reset.
 */

const INTERVAL_MS = 20;

export class LoopWatch {
  #ticked_ms = 0;
  #sinceBeat_ms = 0;

  start(): void {
    this.#ticked_ms = performance.now();
    setInterval(() => this.#tick(), INTERVAL_MS).unref();
  }

  takeSinceBeat_ms(): number {
    const longest = this.#sinceBeat_ms;
    this.#sinceBeat_ms = 0;
    return longest;
  }

  #tick(): void {
    const now_ms = performance.now();
    this.#sinceBeat_ms = Math.max(this.#sinceBeat_ms, now_ms - this.#ticked_ms - INTERVAL_MS);
    this.#ticked_ms = now_ms;
  }
}
