/** Surface: what a root draws on. The player, the browser and tests each have one; all apply the same stream. */
export interface Surface {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** Milliseconds of the surface's clock. */
  now(): number;
  /**
   * Applies a batch. `words` and `strings` belong to the root, which uses them again after the call.
   *
   * @throws {StreamError} if the batch breaks a rule of the stream; then nothing of it is applied.
   */
  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void;
  /** Sets the one listener of events, in the stream's encoding. Words and strings are used again after the call. */
  listen(listener: EventListener): void;
  /** Runs work when nothing else is to do; `deadline()` is the milliseconds left. */
  requestIdle(run: (deadline: () => number) => void): void;
}

export type EventListener = (words: Int32Array, length: number, strings: readonly string[]) => void;
