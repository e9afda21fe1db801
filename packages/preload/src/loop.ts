/**
 * How long the event loop was blocked. A timer that fires late tells by how much; up to one interval of a block goes
 * unseen. Node's own `monitorEventLoopDelay` forgets the interval in which it is reset, which is too coarse for
 * telling one request's block from the next one's.
 */

const INTERVAL_MS = 20;

export class LoopWatch {
  #ticked_ms = 0;
  #sinceEntry_ms = 0;
  #sinceBeat_ms = 0;

  start(): void {
    this.#ticked_ms = performance.now();
    setInterval(() => this.#tick(), INTERVAL_MS).unref();
  }

  /** A request enters: what came before is not its doing. */
  entered(now_ms: number): void {
    this.#note(now_ms);
    this.#ticked_ms = now_ms;
    this.#sinceEntry_ms = 0;
  }

  /** Longest block since the last request entered, one that is just ending included. */
  blockSinceEntry_ms(now_ms: number): number {
    this.#note(now_ms);
    return this.#sinceEntry_ms;
  }

  takeSinceBeat_ms(): number {
    const longest = this.#sinceBeat_ms;
    this.#sinceBeat_ms = 0;
    return longest;
  }

  #tick(): void {
    const now_ms = performance.now();
    this.#note(now_ms);
    this.#ticked_ms = now_ms;
  }

  #note(now_ms: number): void {
    const block_ms = now_ms - this.#ticked_ms - INTERVAL_MS;
    if (block_ms > this.#sinceEntry_ms) this.#sinceEntry_ms = block_ms;
    if (block_ms > this.#sinceBeat_ms) this.#sinceBeat_ms = block_ms;
  }
}
